// Package config has sidecar's settings: one struct, one precedence (built-in defaults, /etc/sidecar/config.yaml,
// the user's file, the project's .sidecar.yaml, environment variables, flags).
//
//	s, notes, err := config.Load(config.Sources{Project: "/home/me/project"})
//
// The project's file is untrusted: it comes with a clone. It may only narrow what the others allow, is read
// bounded and without following links, and whatever else it asks for becomes a Note. The other files are the
// person's own and are believed; this package does not protect them from programs outside a sandbox.
//
// To add a setting: add a field here with its yaml name, doc comment and tags, and its default in Defaults.
// The tags are the schema: min and max bound a number, oneof lists a word's values from the widest to the
// narrowest, each names what every item of a list (or name of a map) must be, merge:"add" makes a later source
// add to a list, and project:"narrow" lets a project lower a number, choose a narrower word, or add to a list. A type
// that is written in a way of its own (Domains) has a row in forms. Profiles are a section of sections: each of their
// fields is a setting by itself ("profiles.claude.env"), so that a later file changes one and leaves the others.
package config

import "time"

// Settings are all settings. Sizes are bytes.
type Settings struct {
	Limits      Limits      `yaml:"limits"`
	Protect     Protect     `yaml:"protect"`
	Workspace   Workspace   `yaml:"workspace"`
	Host        Host        `yaml:"host"`
	Sandbox     Sandbox     `yaml:"sandbox"`
	Env         Env         `yaml:"env"`
	Nix         Nix         `yaml:"nix"`
	Files       Files       `yaml:"files"`
	Network     Network     `yaml:"network"`
	Performance Performance `yaml:"performance"`
	History     History     `yaml:"history"`
	Sessions    Sessions    `yaml:"sessions"`
	Hosts       Hosts       `yaml:"hosts"`
	Log         Log         `yaml:"log"`
	// Profiles are how programs are started, by their names (sidecar exec --profile NAME). Settings.Profile has the ready
	// ones, too.
	Profiles map[string]Profile `yaml:"profiles"`

	// from says where each setting that is no default comes from, for Explain.
	from map[string][]origin
	// narrowed is what the project asks of the network.
	narrowed narrowed
}

// Limits bound each run. A request may lower them, and raise Timeout up to TimeoutMax.
type Limits struct {
	// Timeout is how long a run may last when the request does not say. Default 60s.
	Timeout time.Duration `yaml:"timeout" min:"10ms" max:"168h" project:"narrow"`
	// TimeoutMax is the longest a request may ask for. Default 1h.
	TimeoutMax time.Duration `yaml:"timeout_max" min:"10ms" max:"168h" project:"narrow"`
	// Memory is how much memory a run may use: each process (data segment), and all its processes together. Default 4 GiB.
	Memory Size `yaml:"memory" min:"16MiB" max:"1024TiB" project:"narrow"`
	// Processes is how many processes and threads a run may have at once. Default 1024.
	Processes int `yaml:"processes" min:"1" max:"4194304" project:"narrow"`
	// FileSize is the largest file a run may write. Default 4 GiB.
	FileSize Size `yaml:"file_size" min:"1" max:"1024TiB" project:"narrow"`
	// OpenFiles is how many descriptors one process may hold. Default 4096.
	OpenFiles int `yaml:"open_files" min:"16" max:"1048576" project:"narrow"`
	// Scratch bounds the private home, /tmp and /dev/shm, each. Default 1 GiB.
	Scratch Size `yaml:"scratch" min:"64KiB" max:"1024TiB" project:"narrow"`
	// Output is how much a run may print before it is ended. Default 256 MiB.
	Output Size `yaml:"output" min:"1KiB" max:"1TiB" project:"narrow"`
	// Code is how long a request's code may be. Default 8 MiB.
	Code Size `yaml:"code" min:"1" max:"1GiB" project:"narrow"`
}

// Protect changes which files are protected, beside those that are always (git's own, the project's .sidecar.yaml).
type Protect struct {
	// Also are further names or paths: "eslint.config.js" (anywhere), "tools/deploy.sh" (from the root).
	Also []string `yaml:"also" each:"inside" merge:"add" project:"narrow"`
	// Except are names of the built-in table that a run may change, such as ".npmrc". Only in the user's config.
	Except []string `yaml:"except" each:"text"`
}

// Workspace says what a run may do in the workspace.
type Workspace struct {
	// Access is "read-write" (default) or "read-only".
	Access string `yaml:"access" oneof:"read-write,read-only" project:"narrow"`
}

// Host concerns the interpreters of this machine.
type Host struct {
	// Path replaces PATH when looking for interpreters; empty means the process's own.
	Path string `yaml:"path" each:"folders"`
}

// Sandbox concerns the backend.
type Sandbox struct {
	// Bubblewrap is the program's path; empty means the first "bwrap" on PATH that lies outside the workspace.
	Bubblewrap string `yaml:"bubblewrap" each:"absolute"`
	// Mounts says who makes the protecting mounts: "auto" (default), "shim" (one namespace, cheap in number) or
	// "argv" (bubblewrap itself, where the kernel denies capabilities inside).
	Mounts string `yaml:"mounts" oneof:"auto,shim,argv"`
}

// Performance is what is done ahead of runs.
type Performance struct {
	// Warm is "auto" (default: sandboxes for the runs to come, their interpreters waiting, are made while nothing else runs,
	// used once, and given back when idle or when memory is short), "always" (also while the machine is busy, and from the
	// first run on), or "off".
	Warm string `yaml:"warm" oneof:"always,auto,off"`
}

// Sessions bound the interpreters that are kept between runs.
type Sessions struct {
	// Idle is how long a session is kept after its last call. Default 30m.
	Idle time.Duration `yaml:"idle" min:"1s" max:"168h" project:"narrow"`
	// Lifetime is how long a session is kept at most. Default 24h.
	Lifetime time.Duration `yaml:"lifetime" min:"1s" max:"720h" project:"narrow"`
	// Most is how many sessions a workspace has at once. Default 8.
	Most int `yaml:"most" min:"1" max:"256" project:"narrow"`
}

// Env are variables of the host that every run gets, by name, and variables with fixed values.
type Env struct {
	// Pass are names of variables to copy from the host.
	Pass []string `yaml:"pass" each:"variable"`
	// Set are variables with their values.
	Set map[string]string `yaml:"set" each:"variable"`
}

// Nix concerns environments that Nix builds.
type Nix struct {
	// Use is "auto" (default: for requests that name packages or an environment, and for languages that this machine
	// lacks), "always" (for every run), or "never".
	Use string `yaml:"use" oneof:"auto,always,never"`
	// Nixpkgs is where packages come from, a flake reference; empty is nixpkgs' unstable branch. It is evaluated outside of
	// the sandbox: no folder that runs can change.
	Nixpkgs string `yaml:"nixpkgs"`
	// FollowLock takes the nixpkgs that the project's flake.lock pins instead, if Nixpkgs is empty. For projects that the
	// person trusts: who writes the lock chooses what Nix evaluates and fetches.
	FollowLock bool `yaml:"follow_lock"`
	// Program is a certain nix; empty is the first on PATH outside the workspace.
	Program string `yaml:"program" each:"absolute"`
	// Store is the folder of a store of one's own (nix --store), for who may not use the machine's; empty is that.
	Store string `yaml:"store" each:"absolute"`
	// AllowNix lets nix itself work in runs, through Nix's daemon: they can build, and read the whole store. The daemon's
	// builders are bound neither by a run's limits nor by its lack of a network; see SECURITY.md. Only in the user's config.
	AllowNix bool `yaml:"allow_nix"`
	// PackageDenylist are packages that no request may name, by patterns with * and ?.
	PackageDenylist []string `yaml:"package_denylist" each:"text" merge:"add" project:"narrow"`
	// AllowUnfree lets nixpkgs give packages with licences that are not free, AllowBroken those that it marks as broken.
	AllowUnfree bool `yaml:"allow_unfree"`
	AllowBroken bool `yaml:"allow_broken"`
	// AllowInsecure are packages with known vulnerabilities, each with its version ("openssl-1.1.1w").
	AllowInsecure []string `yaml:"allow_insecure" each:"text"`
	// Environments are further environments by their ids, each a flake reference and an output ("github:me/envs#python",
	// "/home/me/envs#devShells.x86_64-linux.default"). They are evaluated with all of the person's rights.
	Environments map[string]string `yaml:"environments" each:"id"`
	// Substituters replace Nix's own binary caches, TrustedKeys are keys beside Nix's own, and Builders are lines of Nix's
	// machines file.
	Substituters []string `yaml:"substituters" each:"text"`
	TrustedKeys  []string `yaml:"trusted_keys" each:"text"`
	Builders     []string `yaml:"builders" each:"text"`
	// Offline keeps Nix from the network.
	Offline bool `yaml:"offline"`
	// BuildTimeout is how long building an environment may take. Default 30m.
	BuildTimeout time.Duration `yaml:"build_timeout" min:"1s" max:"168h" project:"narrow"`
}

// Files are files and folders of the host that every run may see, beside the workspace, each an absolute path or one
// that starts with ~, $HOME or another variable. They are looked up when a run starts, and have to exist.
type Files struct {
	// RWDirs are folders that runs may change, RWFiles files.
	RWDirs  []string `yaml:"rw_dirs" each:"place"`
	RWFiles []string `yaml:"rw_files" each:"place"`
	// RODirs are folders that runs may read, ROFiles files.
	RODirs  []string `yaml:"ro_dirs" each:"place"`
	ROFiles []string `yaml:"ro_files" each:"place"`
}

// Network says what runs may reach. Settings.Reach has what it comes to, with what a project narrows.
type Network struct {
	// Run is what a run may reach while AllowedDomains is not set: "open" is the internet, without the services of this
	// machine and its networks, "none" (default) is nothing.
	Run string `yaml:"run" oneof:"open,none" project:"narrow"`
	// Exec is the same for what `sidecar exec` starts: "open" (default) or "none".
	Exec string `yaml:"exec" oneof:"open,none" project:"narrow"`
	// AllowedDomains are the names that may be reached, with their subdomains: a list, or a map from each name to "*" or a
	// list of HTTP methods. An empty list is nothing at all.
	AllowedDomains *Domains `yaml:"allowed_domains" project:"narrow"`
	// Approved are names that a person allowed for good when a run asked for one. They count beside AllowedDomains, and
	// where only a default stands against them; sidecar writes them.
	Approved *Domains `yaml:"approved"`
	// AllowedPorts are TCP ports of this machine's own loopback; `all` (or null) is all of them.
	AllowedPorts Ports `yaml:"allowed_ports"`
	// Hosts are names with the address that each stands for, with or without a port. The person vouches for them: they may
	// be private, as a company's own are.
	Hosts map[string]string `yaml:"hosts" each:"host" value:"address"`
	// Sockets are unix sockets of the host that runs may use ("$SSH_AUTH_SOCK").
	Sockets []string `yaml:"sockets" each:"place"`
	// Ask is "auto" (default: a person is asked about names that no rule mentions, where a client that can ask is
	// connected), or "never".
	Ask string `yaml:"ask" oneof:"auto,never"`
}

// History says what is kept of runs after they have ended. A project has no say in it: what came with a clone must not
// be able to hide what it did. In a file, `history: off` is short for its Keep.
type History struct {
	// Keep is "full" (default), "metadata" (who asked for what when, under which policy and how it ended, but no code, input,
	// arguments and output), or "off".
	Keep string `yaml:"keep" oneof:"full,metadata,off"`
	// Age is how long a run is remembered. Default 2160h.
	Age time.Duration `yaml:"age" min:"1h" max:"87600h"`
	// Size is how large the history may grow; the oldest runs go first. Default 256 MiB.
	Size Size `yaml:"size" min:"1MiB" max:"1TiB"`
}

// Hosts are other machines with a sidecar, reached through the person's own ssh. In a file, `hosts: [NAME]` is short for its
// Status.
type Hosts struct {
	// Status are those whose sidecars `sidecar status` shows beside this machine's, each as ssh knows it: HOST or USER@HOST.
	Status []string `yaml:"status" each:"machine"`
	// Program is sidecar on other machines; empty is the one on the PATH that ssh gives to commands there. ~/ is the home folder
	// there.
	Program string `yaml:"program"`
}

// Log is what a project's sidecar writes down for people who look into a problem (sidecar logs). Level is that of each
// client's own runs; the rest, and what is of no client, are those of whoever started the sidecar.
type Log struct {
	// Level is the least that is written: "debug" (also why things were decided so), "info" (default), "warn", "error", or "off".
	Level string `yaml:"level" oneof:"debug,info,warn,error,off"`
	// Format is "text" (default) or "json".
	Format string `yaml:"format" oneof:"text,json"`
	// Size is how large a file may grow before the next one is begun. Default 1 MiB.
	Size Size `yaml:"size" min:"64KiB" max:"1GiB"`
	// Files is how many are kept of a sidecar. Default 4.
	Files int `yaml:"files" min:"1" max:"100"`
}

// Size is a number of bytes, written as a number or with a unit: 512MiB, 4GiB, 100kB.
type Size int64
