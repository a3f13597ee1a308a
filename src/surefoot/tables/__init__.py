"""Reading published tables: where raw files lie, how they are opened, parsed, judged, kept and fetched.

source     what is known of a data set before anything is read
places     where its raw files are looked for
stream     one raw file as bytes, whatever it is wrapped in
text, idx  two formats that several publishers use
rows       blocks of rows in, one table out
verdict    published, another table of the same format, or wrong
cache      a table parsed once, mapped into memory ever after
download   the last resort
"""
