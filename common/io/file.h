// File operations: whole-file reads, and writes after which a crash leaves the old or the new file.
// Every failure is an Error with the file's name and the system's message.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lie {

namespace fs = std::filesystem;

/// Returns the file's content. Throws Error if `path` is missing, unreadable or not a regular file.
/// Reading a pipe or a device such as /dev/zero might never end, and signals would not stop it.
std::string read_file(const fs::path& path);

/// Replaces the content of `path`: writes a temporary file, syncs it, renames it to `path`, and
/// syncs the directory. After a crash at any moment `path` holds the old or the new content.
void write_file_atomically(const fs::path& path, std::string_view content);

/// Flushes a file's content to the disk.
void sync_file(const fs::path& path);

/// Flushes a directory's entries (creations, renames, removals) to the disk.
void sync_directory(const fs::path& path);

/// Removes a file or an empty directory, if it exists. Throws Error.
void remove_file(const fs::path& path);

/// Cuts a file off after so many bytes. Throws Error.
void cut_file(const fs::path& path, std::uint64_t bytes);

/// Renames a file or directory within one file system and syncs the directory of `to`. Completes a
/// checkpoint.
void rename_durably(const fs::path& from, const fs::path& to);

/// Returns the name of `path` with `suffix` appended, or "`suffix`-2" and so on if that name
/// exists.
fs::path free_name(const fs::path& path, std::string_view suffix);

/// Renames `path` durably to free_name(). Returns the new name.
fs::path set_aside(const fs::path& path, std::string_view suffix);

/// Creates a directory and its missing parents. Throws Error if it cannot or if a file is in the
/// way.
void make_directories(const fs::path& path);
/// Throws the Error with which make_directories() would fail, as far as can be known without a
/// change of the file system.
void check_directories(const fs::path& path);

/// Returns the names in a directory, sorted by bytes. Throws Error if it is missing or not a
/// directory.
std::vector<std::string> list_directory(const fs::path& path);

/// Throws Error if `content`, the beginning of a file of unexpected format, is a Git LFS pointer.
void refuse_lfs_pointer(std::string_view file, std::string_view content);

}  // namespace lie
