"""odd-name.py SOURCE FOLDER: copies SOURCE into FOLDER/0 and FOLDER/1, in folders whose names
hold a quote and a blank, and a tab and a line break."""
import os
import shutil
import sys

source, folder = sys.argv[1:]
for number, name in enumerate(['to"p k', "t\to\np%"]):
    place = os.path.join(folder, str(number), name)
    os.makedirs(place)
    shutil.copy(source, place)
