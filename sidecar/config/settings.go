// Package config has sidecar's settings: one struct, one precedence (built-in defaults, /etc/sidecar/config.yaml,
// the user's file, the project's .sidecar.yaml, environment variables, flags).
//
//	s, err := config.Load(config.Sources{Project: "/home/me/project"})
//
// To add a setting: add a field here with its yaml name and doc comment, its default in Defaults, its bounds
// in check, and, when a project may narrow it, a line in narrow.
package config

import "time"

// Settings are all settings. Sizes are bytes.
type Settings struct {
	Limits    Limits    `yaml:"limits"`
	Protect   Protect   `yaml:"protect"`
	Workspace Workspace `yaml:"workspace"`
	Host      Host      `yaml:"host"`
	Sandbox   Sandbox   `yaml:"sandbox"`
	Env       Env       `yaml:"env"`
}

// Limits bound each run. A request may lower them, and raise Timeout up to TimeoutMax.
type Limits struct {
	// Timeout is how long a run may last when the request does not say. Default 60s.
	Timeout time.Duration `yaml:"timeout"`
	// TimeoutMax is the longest a request may ask for. Default 1h.
	TimeoutMax time.Duration `yaml:"timeout_max"`
	// Memory is how much memory a run may use: each process (data segment), and all its processes together. Default 4 GiB.
	Memory Size `yaml:"memory"`
	// Processes is how many processes and threads a run may have at once. Default 1024.
	Processes int `yaml:"processes"`
	// FileSize is the largest file a run may write. Default 4 GiB.
	FileSize Size `yaml:"file_size"`
	// OpenFiles is how many descriptors one process may hold. Default 4096.
	OpenFiles int `yaml:"open_files"`
	// Scratch bounds the private home, /tmp and /dev/shm, each. Default 1 GiB.
	Scratch Size `yaml:"scratch"`
	// Output is how much a run may print before it is ended. Default 256 MiB.
	Output Size `yaml:"output"`
	// Code is how long a request's code may be. Default 8 MiB.
	Code Size `yaml:"code"`
}

// Protect changes which files are protected, beside those that are always (git's own, the project's .sidecar.yaml).
type Protect struct {
	// Also are further names or paths: "eslint.config.js" (anywhere), "tools/deploy.sh" (from the root).
	Also []string `yaml:"also"`
	// Except are names of the built-in table that a run may change, such as ".npmrc". Only in the user's config.
	Except []string `yaml:"except"`
}

// Workspace says what a run may do in the workspace.
type Workspace struct {
	// Access is "read-write" (default) or "read-only".
	Access string `yaml:"access"`
}

// Host concerns the interpreters of this machine.
type Host struct {
	// Path replaces PATH when looking for interpreters; empty means the process's own.
	Path string `yaml:"path"`
}

// Sandbox concerns the backend.
type Sandbox struct {
	// Bubblewrap is the program's path; empty means the first "bwrap" on PATH that lies outside the workspace.
	Bubblewrap string `yaml:"bubblewrap"`
	// Mounts says who makes the protecting mounts: "auto" (default), "shim" (one namespace, cheap in number) or
	// "argv" (bubblewrap itself, where the kernel denies capabilities inside).
	Mounts string `yaml:"mounts"`
}

// Env are variables of the host that every run gets, by name, and variables with fixed values.
type Env struct {
	// Pass are names of variables to copy from the host.
	Pass []string `yaml:"pass"`
	// Set are variables with their values.
	Set map[string]string `yaml:"set"`
}

// Size is a number of bytes, written as a number or with a unit: 512MiB, 4GiB, 100kB.
type Size int64
