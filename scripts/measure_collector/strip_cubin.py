"""Takes what names source lines out of a cubin, in place. GNU strip does not know cubins, and
LLVM's renumbers sections without the numbers that NVIDIA keeps in other fields."""
import struct

SHT_NULL, HEADER = 0, "<IIQQQQIIQQ"


def sections(image):
    """(place of the header, name, fields) of each section of a 64-bit ELF file."""
    if image[:6] != b"\x7fELF\x02\x01":
        raise ValueError("no 64-bit little-endian ELF file")
    offset, = struct.unpack_from("<Q", image, 0x28)
    size, count, names = struct.unpack_from("<HHH", image, 0x3A)
    headers = [(offset + i * size, struct.unpack_from(HEADER, image, offset + i * size))
               for i in range(count)]
    table = headers[names][1][4]
    for place, fields in headers:
        begin = table + fields[0]
        yield place, image[begin:image.index(b"\0", begin)].decode(), fields


def strip(path, result):
    """Returns the names of the sections that are emptied."""
    image = bytearray(open(path, "rb").read())
    gone = []
    for place, name, fields in list(sections(image)):
        if "debug" not in name:
            continue
        gone.append(name)
        begin, size = fields[4], fields[5]
        image[begin:begin + size] = bytes(size)
        struct.pack_into(HEADER, image, place, fields[0], SHT_NULL, 0, 0, begin, 0, 0, 0, 1, 0)
    with open(result, "wb") as file:
        file.write(image)
    return gone
