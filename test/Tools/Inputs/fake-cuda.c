/* A driver with one device and nothing else: makes optimas-rewrite go on to run the
   program on a machine without a GPU, to see what it says of programs that fail before
   they use one. */
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}
int cuDeviceGetName(char *name, int length, int device) { return 1; }
