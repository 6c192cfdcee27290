package config

import "time"

// The sizes that the defaults are written in.
const (
	kib Size = 1 << 10
	mib      = kib << 10
	gib      = mib << 10
)

// Defaults are the settings of a machine where nobody set anything.
func Defaults() Settings {
	return Settings{
		Limits: Limits{
			Timeout:    60 * time.Second,
			TimeoutMax: time.Hour,
			Memory:     4 * gib,
			Processes:  1024,
			FileSize:   4 * gib,
			OpenFiles:  4096,
			Scratch:    gib,
			Output:     256 * mib,
			Code:       8 * mib,
		},
		Workspace:   Workspace{Access: "read-write"},
		Sandbox:     Sandbox{Mounts: "auto"},
		Nix:         Nix{Use: "auto", BuildTimeout: 30 * time.Minute},
		Network:     Network{Run: "none", Exec: "open", Ask: "auto"},
		Performance: Performance{Warm: "auto"},
		History:     History{Keep: "full", Age: 90 * 24 * time.Hour, Size: 256 * mib},
		Sessions:    Sessions{Idle: 30 * time.Minute, Lifetime: 24 * time.Hour, Most: 8},
		Log:         Log{Level: "info", Format: "text", Size: mib, Files: 4},
	}
}
