"""One trajectory file. common/trajectory/schema.h describes the format, common/trajectory/reader.cpp the checks."""
import collections
import contextlib
import ctypes
import hashlib
import os

import h5py
import numpy as np

from .error import Error

VERSION = 2
_PACKED = ("text", "prompt", "token", "problem", "sample")  # a step's row says how far these tables reach
_CHECKED_TEXTS = ("build_id", "config", "model_sha256", "tokenizer_sha256")
_CHECKED_NUMBERS = ("seed", "learner_rank", "learner_count", "starts_after_step")


def damaged(path, what):
    return Error(f"{path}: {what}; the file is damaged: restore it, or move it out of trajectories/ to read the others")


@contextlib.contextmanager
def _naming(path, what):
    """Turns errors of HDF5, which name neither file nor remedy, into Error."""
    try:
        yield
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise damaged(path, f"{what} cannot be read: {error}") from error


def _open(path):
    """Opens a file in SWMR mode, as open_file() in common/trajectory/hdf5.cpp does. This works while a writer has it
    open, after the writer was killed, and after it has closed the file."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    access.set_file_locking(False, True)  # a reader must not block a run or a repair
    # HDF5 treats a damaged block as one that is being written. It reads it up to 100 times and doubles each wait, which
    # would take forever. h5py has no call for the number of attempts, but the HDF5 library has.
    set_attempts = getattr(ctypes.CDLL(h5py.h5p.__file__), "H5Pset_metadata_read_attempts", None)
    if set_attempts:
        set_attempts(ctypes.c_int64(access.id), ctypes.c_uint(25))
    return h5py.File(h5py.h5f.open(os.fsencode(path), h5py.h5f.ACC_RDONLY | h5py.h5f.ACC_SWMR_READ, fapl=access))


class OpenFiles:
    """The most recently used trajectory files, kept open: a long run has more files than a process may open."""

    LIMIT = 256

    def __init__(self):
        self._files = collections.OrderedDict()

    def get(self, path):
        file = self._files.pop(path, None)
        if file is None:
            with _naming(path, "the head"):
                file = _open(path)
        self._files[path] = file
        if len(self._files) > self.LIMIT:
            self._files.popitem(last=False)[1].close()
        return file


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def _names(text):
    return text.split(",") if text else []


class Segment:
    """The steps of one file that were complete when it was opened."""

    def __init__(self, path, files):
        self.path, self._files = path, files
        with _naming(path, "its attributes"):
            self._read_info(files.get(path))
        # This column is read first, so that columns read later contain what it points to.
        self.steps = self._read("step/step")
        tables = _PACKED + (("version_run",) if self.token_versions else ())
        self.ends = {table: self._read(f"step/{table}_end", len(self.steps)) for table in tables}
        self._check_ascend("step/step", self.steps)
        for table, ends in self.ends.items():
            self._check_ascend(f"step/{table}_end", ends)

    def _read_info(self, file):
        version = int(file.attrs["schema_version"])
        if version != VERSION:
            raise Error(f"{self.path}: schema version {version}, but this reader reads version {VERSION}; use the "
                        "reader of the program that wrote it")
        texts = {name: _text(file.attrs[name]) for name in _CHECKED_TEXTS}
        self.config, self.tokenizer_sha256 = texts["config"], texts["tokenizer_sha256"]
        self.learner, self.learners, self.starts_after = (
            int(file.attrs[name]) for name in ("learner_rank", "learner_count", "starts_after_step"))
        self.rewards = _names(_text(file.attrs["reward_terms"]))
        self.numbers = _names(_text(file.attrs["numbers"]))
        self.token_versions = "token_versions" in file.attrs  # weights may have changed in flight
        if "attributes_checksum" in file.attrs and int(file.attrs["attributes_checksum"]) != self._checksum(file, texts):
            raise ValueError("they do not match attributes_checksum")

    def _checksum(self, file, texts):
        """Computes info_checksum() of common/trajectory/schema.cpp."""
        parts = list(texts.values())
        for name in self.rewards:
            parts += [name, _text(file[f"sample/reward_{name}"].attrs["about"])]
        parts += self.numbers
        numbers = " ".join(str(int(file.attrs[name])) for name in _CHECKED_NUMBERS)
        said = b"".join(b"%d:%s" % (len(part), part) for part in map(str.encode, parts)) + numbers.encode()
        said += b" token_versions" if self.token_versions else b""
        said += b" drawn_groups" if "drawn_groups" in file.attrs else b""
        return int(hashlib.sha256(said).hexdigest()[:16], 16)

    def _check_ascend(self, column, values):
        if len(values) and (values[0] < 0 or (np.diff(values) < 0).any()):
            raise damaged(self.path, f"the values of {column} do not ascend")

    def keep_steps_up_to(self, last):
        kept = int((self.steps <= last).sum())
        self.steps = self.steps[:kept]
        self.ends = {table: ends[:kept] for table, ends in self.ends.items()}

    def rows(self, table):
        if table == "step":
            return len(self.steps)
        return int(self.ends[table][-1]) if len(self.steps) else 0

    def _read(self, column, end=None, begin=0):
        with _naming(self.path, f"{column}, rows {begin} to {'the end' if end is None else end},"):
            dataset = self._files.get(self.path)[column]
            dataset.refresh()  # an earlier Run may hold the file as it was then
            values = dataset[begin:end]
            if end is not None and len(values) != end - begin:
                raise ValueError(f"only {len(values)} rows are there")
            return values

    def column(self, column):
        """Returns all complete rows of a column such as "sample/reward"."""
        return self._read(column, self.rows(column.split("/")[0]))

    def values(self, column, rows):
        """Returns the values of a column in these rows. Reads the range from the first row to the last at once."""
        first = int(rows.min())
        return self._read(column, int(rows.max()) + 1, first)[rows - first]

    def columns(self, table):
        """Returns the names of a table's columns."""
        with _naming(self.path, f"/{table}"):
            return list(self._files.get(self.path)[table])

    def about(self, column):
        """Returns what a column holds, with its unit."""
        with _naming(self.path, f"/{column}"):
            attributes = self._files.get(self.path)[column].attrs
            about, unit = _text(attributes["about"]), _text(attributes["unit"])
        return f"{about} [{unit}]" if unit else about

    def versions_of_tokens(self, rows):
        """Returns for each row of /sample the version of every token, [T]."""
        if self.token_versions:
            runs = [self.parts("sample/version_run", f"version_run/{name}", rows) for name in ("policy_version", "tokens")]
            return [np.repeat(version, tokens) for version, tokens in zip(*runs)]
        version, tokens = (self.column(f"sample/{name}")[rows] for name in ("policy_version", "token_count"))
        return [np.full(t, v) for v, t in zip(version, tokens)]

    def parts(self, owner, packed, rows):
        """Returns each row's part of a packed column by <owner>_offset and <owner>_count: "sample/token", "token/id".
        Reads the range from the first part to the last at once."""
        offsets, counts = (self.values(f"{owner}_{end}", rows).astype(np.int64) for end in ("offset", "count"))
        begin, end = int(offsets.min()), int((offsets + counts).max())
        if begin < 0 or counts.min() < 0 or end > self.rows(packed.split("/")[0]):
            raise damaged(self.path, f"a row of {owner}_offset points outside of {packed}")
        values = self._read(packed, end, begin)
        return [values[o - begin:o - begin + c] for o, c in zip(offsets.tolist(), counts.tolist())]
