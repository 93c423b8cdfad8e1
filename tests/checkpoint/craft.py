"""A checkpoint with other bytes in a block, and right CRCs.

usage: craft.py FROM TO BLOCK OFFSET HEX
"""
import struct
import sys
import zlib

OPENING, HEADER, NAME = 16, 64, 48


def blocks_of(data):
    at = OPENING
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at + NAME)
        name = bytes(data[at:at + NAME]).rstrip(b"\0").decode()
        yield name, bytearray(data[at + HEADER:at + HEADER + size])
        at += HEADER + size


def main(origin, made, block, offset, new):
    with open(origin, "rb") as file:
        data = file.read()
    out, before, found = bytearray(data[:OPENING]), 0, False
    for name, content in blocks_of(data):
        if name == block:
            change = bytes.fromhex(new)
            assert int(offset) + len(change) <= len(content), (block, len(content))
            content[int(offset):int(offset) + len(change)] = change
            found = True
        crc = zlib.crc32(content)
        header = name.encode().ljust(NAME, b"\0") + struct.pack("<QI", len(content), crc)
        out += header + struct.pack("<I", zlib.crc32(header, before)) + content
        before = crc
    assert found, block
    with open(made, "wb") as file:
        file.write(out)


main(*sys.argv[1:])
