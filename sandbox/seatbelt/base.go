package seatbelt

// base is what every program needs, and what nobody would miss it for. Each line has its reason; what is not here (launchd
// jobs, Apple events, the pasteboard, the keychain, preferences, Launch Services, the window server) is denied.
const base = `
; Processes: those of the run, of which each may signal the others and look at them. The default does not reach process-info*.
(allow process-fork)
(allow signal (target same-sandbox))
(deny process-info*)
(allow process-info* (target same-sandbox))

; Services, each by its name.
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")     ; the name of a user: getpwuid(3)
  (global-name "com.apple.system.opendirectoryd.membership")  ; the groups of a user: getgrouplist(3)
  (global-name "com.apple.system.notification_center")        ; that the time zone has changed: notify(3)
  (global-name "com.apple.bsd.dirhelper")                     ; where the user's temporary folders are: confstr(3)
)
(allow ipc-posix-shm-read-data (ipc-posix-name "apple.shm.notification_center"))

; What Python's multiprocessing makes, and nothing of other programs.
(allow ipc-posix-sem* ipc-posix-shm* (ipc-posix-name-prefix "/mp-") (ipc-posix-name-prefix "/psm_") (ipc-posix-name-prefix "/loky-"))

; What a program asks of the machine it is on; nothing of other processes (kern.proc.*, kern.procargs2) or of the network.
(allow sysctl-read
  (sysctl-name-prefix "hw.")
  (sysctl-name-prefix "machdep.cpu.")
  (sysctl-name "kern.argmax") (sysctl-name "kern.hostname") (sysctl-name "kern.maxfiles")
  (sysctl-name "kern.maxfilesperproc") (sysctl-name "kern.maxproc") (sysctl-name "kern.ngroups") (sysctl-name "kern.osproductversion")
  (sysctl-name "kern.osrelease") (sysctl-name "kern.ostype") (sysctl-name "kern.osvariant_status") (sysctl-name "kern.osversion")
  (sysctl-name "kern.secure_kernel") (sysctl-name "kern.tcsm_available") (sysctl-name "kern.tcsm_enable") (sysctl-name "kern.usrstack64")
  (sysctl-name "kern.version") (sysctl-name "kern.willshutdown") (sysctl-name "kern.boottime")
  (sysctl-name "machdep.ptrauth_enabled") (sysctl-name "security.mac.lockdown_mode_state") (sysctl-name "sysctl.proc_cputype")
  (sysctl-name "vm.loadavg") (sysctl-name "vm.pagesize")
)

; Sockets of the file system; where they may be is said below. Those of the network need no leave to be made.
(allow system-socket (socket-domain AF_UNIX))

; The system's libraries, data and the loader's cache. The loader lists "/" before any program starts.
(allow file-read* (literal "/"))
(allow file-read-metadata (literal "/etc") (literal "/tmp") (literal "/var") (literal "/private") (literal "/private/etc") (literal "/private/var")
  (literal "/private/tmp") (literal "/dev") (literal "/System") (literal "/System/Volumes") (literal "/System/Volumes/Preboot") (literal "/usr") (literal "/Library"))
(allow file-read* file-map-executable process-exec*
  (subpath "/usr/lib") (subpath "/usr/share") (subpath "/usr/libexec")
  (subpath "/System/Library") (subpath "/System/Cryptexes") (subpath "/System/Volumes/Preboot/Cryptexes") (subpath "/System/iOSSupport")
  (subpath "/Library/Apple")
  (subpath "/private/var/db/dyld") (subpath "/private/var/db/timezone") (subpath "/private/var/select")
  (literal "/private/etc/localtime") (literal "/private/etc/services") (literal "/private/etc/protocols")
  (subpath "/private/etc/ssl")
)

; Devices.
(allow file-read* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/autofs_nowait") (subpath "/dev/fd")
  (literal "/dev/stdin") (literal "/dev/stdout") (literal "/dev/stderr") (literal "/dev/dtracehelper") (literal "/dev/tty") (literal "/dev/ptmx"))
(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (subpath "/dev/fd") (literal "/dev/dtracehelper") (literal "/dev/tty") (literal "/dev/ptmx"))
(allow file-ioctl (literal "/dev/null") (literal "/dev/dtracehelper") (literal "/dev/tty") (literal "/dev/ptmx"))

; Terminals: new ones of the run's own, and what it was started with. Those of other programs cannot be opened.
(allow pseudo-tty)
(allow file-read* file-write-data (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
(allow file-ioctl (regex #"^/dev/ttys[0-9]+$"))`
