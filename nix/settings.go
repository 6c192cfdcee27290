package nix

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Options are what a Store is opened with. The zero value of each field but Dir is of use.
type Options struct {
	// Dir is the folder of the cache: records, roots, logs. It is made if it is not there; nobody else may be
	// able to write it, since what a record names is mounted and executed.
	Dir string
	// Program is a certain nix, or Path is searched for one, when one is needed first.
	Program, Path string
	// Environ is where nix's own environment is taken from, NAME=VALUE: home, proxies, certificates, Nix's
	// variables; nothing else gets through.
	Environ []string
	// Root is a store of one's own below this folder (nix --store), for who has no right to the machine's.
	Root string
	// Substituters replace Nix's own binary caches; nil leaves them, an empty list means none. TrustedKeys
	// are keys beside Nix's own.
	Substituters, TrustedKeys []string
	// Builders are Nix's remote builders, each a line of its machines file; nil leaves Nix's own.
	Builders []string
	// Offline forbids the network.
	Offline bool
	// Limit ends a build, or anything else of Nix, that takes longer; 0 is no limit.
	Limit time.Duration
	// Config are further settings of Nix (nix.conf), over all others.
	Config map[string]string
}

// Passed are the variables that nix may have; others of Environ are left out.
var Passed = []string{
	"HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
	"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_SSL_CERT_FILE", "CURL_CA_BUNDLE", "SSH_AUTH_SOCK",
	"NIX_REMOTE", "NIX_CONF_DIR", "NIX_USER_CONF_FILES", "NIX_STATE_DIR", "NIX_LOG_DIR", "NIX_DAEMON_SOCKET_PATH", "NIX_SSHOPTS",
}

// environment is nix's: what may pass of the person's, a PATH of absolute folders (for git and ssh), a home that
// can be written, and our settings.
func (o Options) environment() []string {
	env := []string{"PATH=" + absolute(o.Path), "TERM=dumb", "NIX_PAGER=cat", "PAGER=cat"}
	home := false
	for _, assignment := range o.Environ {
		name, value, _ := strings.Cut(assignment, "=")
		if !slices.Contains(Passed, name) || name == "HOME" && unix.Access(value, unix.W_OK) != nil {
			continue
		}
		home = home || name == "HOME"
		env = append(env, assignment)
	}
	if !home {
		env = append(env, "HOME="+filepath.Join(o.Dir, "home"))
	}
	return append(env, "NIX_CONFIG="+o.config())
}

// absolute is a PATH without what would be of the project.
func absolute(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(os.PathListSeparator))
}

// config is the text of NIX_CONFIG.
func (o Options) config() string {
	// The features are in the text as well as among the flags, since later Nix passes over settings of what is not
	// yet on. Its own patience with a server that does not answer would be five times 300 seconds.
	lines := []string{
		"extra-experimental-features = " + features, "connect-timeout = 5", "stalled-download-timeout = 10", "download-attempts = 2",
		"warn-dirty = false", "accept-flake-config = false",
	}
	if o.Substituters != nil {
		lines = append(lines, "substituters = "+strings.Join(o.Substituters, " "))
	}
	if len(o.TrustedKeys) > 0 {
		lines = append(lines, "extra-trusted-public-keys = "+strings.Join(o.TrustedKeys, " "))
	}
	if o.Builders != nil {
		lines = append(lines, "builders = "+strings.Join(o.Builders, " ; "))
	}
	for _, name := range sorted(o.Config) {
		lines = append(lines, name+" = "+o.Config[name])
	}
	return strings.Join(lines, "\n")
}

// check refuses settings that would be read as others.
func (o Options) check() error {
	if !filepath.IsAbs(o.Dir) || o.Root != "" && !filepath.IsAbs(o.Root) {
		return fmt.Errorf("nix: the folder of the cache is %q and that of the store %q; they are absolute paths", o.Dir, o.Root)
	}
	values := slices.Concat(o.Substituters, o.TrustedKeys, o.Builders)
	for name, value := range o.Config {
		values = append(values, value)
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || name == "" {
			return fmt.Errorf("nix: %q is no setting of Nix", name)
		}
	}
	for _, value := range values {
		if strings.ContainsAny(value, "\x00\n\r#") {
			return fmt.Errorf("nix: the setting %q has a line's end or a # in it", value)
		}
	}
	return nil
}

// sorted are the keys of a map in order.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
