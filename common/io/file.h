// Files as the program needs them: read whole, written so that a crash leaves the old or the new
// one. Every failure is an Error that names the file and what the system said.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace lie {

namespace fs = std::filesystem;

/// The whole content. Throws Error if `path` is missing, a directory or unreadable.
std::string read_file(const fs::path& path);

/// Replaces `path` by `content`: writes aside, syncs, renames, syncs the directory. After a crash
/// at any moment `path` holds either the old content or the new one.
void write_file_atomically(const fs::path& path, std::string_view content);

/// Whether a directory holds files whose names begin with none of `beginnings`.
bool holds_files_besides(const fs::path& directory,
                         std::initializer_list<std::string_view> beginnings);

/// Forces a file's content to the disk.
void sync_file(const fs::path& path);

/// Forces a directory's entries (creations, renames, removals) to the disk.
void sync_directory(const fs::path& path);

/// Moves a file or directory within one file system, durably: the last act of making a checkpoint.
void rename_durably(const fs::path& from, const fs::path& to);

/// Renames `path` durably to its name with `suffix`, or "`suffix`-2" and so on where that exists.
/// Returns the new name.
fs::path set_aside(const fs::path& path, std::string_view suffix);

/// Creates a directory and its missing parents. Throws Error if it cannot or if a file is in the
/// way.
void make_directories(const fs::path& path);

/// Names in a directory in byte order. Throws Error if it is missing or not a directory.
std::vector<std::string> list_directory(const fs::path& path);

}  // namespace lie
