"""Lines of JSON objects, whose last field may be a checksum of the others: {"step":7,"accuracy":0.5,"crc32c":1234567}."""
import json

from .error import Error

_FIELD = ',"crc32c":'


def _crc_of_byte(byte):
    for _ in range(8):
        byte = byte >> 1 ^ 0x82F63B78 * (byte & 1)
    return byte


_TABLE = [_crc_of_byte(byte) for byte in range(256)]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _is_intact(line):
    """Returns whether the checksum is that of the object's other fields."""
    object_, field, checksum = line.rpartition(_FIELD)
    return field and checksum == f"{crc32c((object_ + '}').encode())}}}"


def read_json_lines(path, convert, expected):
    """Returns convert(object) of each line. An unfinished last line was left by a killed process and is skipped. If any
    line of the file has a checksum, all must match theirs. `expected` describes a correct line in errors. Raises Error
    for a damaged line."""
    return parse_json_lines(path.read_text(errors="replace"), path, convert, expected)


def parse_json_lines(text, path, convert, expected, first_line=1):
    """Does the same for `text`, the part of the file that begins at line `first_line`."""
    rows, damage = valid_json_lines(text, path, convert, expected, first_line)
    if damage:
        raise Error(f"{damage[0]}; remove the line")
    return rows


def valid_json_lines(text, path, convert, expected, first_line=1):
    """Returns convert(object) of each intact line, and what is wrong with each damaged one, as text without a remedy."""
    checked, rows, damage = _FIELD in text, [], []
    for number, line in enumerate(text.split("\n")[:-1], first_line):
        if checked and not _is_intact(line):
            damage.append(f"{path}:{number}: the line does not match its checksum")
            continue
        try:
            rows.append(convert({name: value for name, value in json.loads(line).items() if name != "crc32c"}))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            damage.append(f"{path}:{number}: expected {expected} ({error})")
    return rows, damage
