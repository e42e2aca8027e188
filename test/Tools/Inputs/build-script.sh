# build-script.sh SOURCE BODY PROGRAM: "builds" a program that runs BODY; another source
# makes another program.
{ echo '#!/bin/sh'; cksum < "$1" | sed 's/^/# /'; cat "$2"; } > "$3" && chmod +x "$3"
