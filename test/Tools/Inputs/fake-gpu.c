/* A driver that knows one card, so that the measuring part runs where there is none; the
   programs that are "measured" are scripts (fake-build.sh). */
#include <string.h>
int cuInit(unsigned Flags) { return Flags != 0; }
int cuDeviceGetCount(int *Count) { *Count = 1; return 0; }
int cuDeviceGetName(char *Name, int Size, int Device) {
  strncpy(Name, "Fake GPU", Size);
  return Device;
}
