package session

// queued asks how many bytes a pipe holds (FIONREAD, sys/filio.h).
const queued = 0x4004667f
