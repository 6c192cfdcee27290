package nix

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Collected is what Collect has let go of.
type Collected struct {
	// Environments are those that are kept no longer; Kept is how many are.
	Environments []Built
	Kept         int
}

// Collect lets go of environments, and fetched sources, that nobody has used for so long; what is being built stays. Nix's
// own garbage collector then frees what nothing else keeps. keep should be longer than any run: a run does not
// mark its environment again while it lasts.
func (s *Store) Collect(keep time.Duration) (Collected, error) {
	var done Collected
	old := time.Now().Add(-keep)
	records, err := os.ReadDir(filepath.Join(s.options.Dir, "records"))
	if err != nil {
		return done, err
	}
	for _, entry := range records {
		info, err := entry.Info()
		if err != nil || info.ModTime().After(old) && !strings.HasPrefix(entry.Name(), ".") {
			done.Kept++
			continue
		}
		if built, ok := s.drop(entry.Name(), old); ok {
			done.Environments = append(done.Environments, built)
		}
	}
	s.dropOld("roots", old, func(name string) bool { return !s.recorded(name) })
	s.dropOld("logs", old, nil)
	s.dropOld("names", old, nil)
	s.dropOld("sources", old, func(name string) bool { return strings.HasSuffix(name, ".json") })
	s.dropOld("sources", old, func(name string) bool { return !s.remembered(name) })
	return done, nil
}

// drop lets go of one environment, unless it is being built or was used just now.
func (s *Store) drop(key string, old time.Time) (Built, bool) {
	unlock, err := s.tryLock(key)
	if err != nil {
		return Built{}, false
	}
	defer unlock()
	file := s.recordFile(key)
	if info, err := os.Stat(file); err != nil || info.ModTime().After(old) {
		return Built{}, false
	}
	text, _ := os.ReadFile(file)
	built, err := parseRecord(text)
	built.root = s.options.Root
	_ = os.Remove(file)
	_ = os.Remove(s.rootLink(key))
	_ = os.Remove(filepath.Join(s.options.Dir, "logs", key+".log"))
	return built, err == nil
}

// recorded says whether a root's environment has a record.
func (s *Store) recorded(root string) bool {
	key, _, _ := strings.Cut(root, "-")
	key, _, _ = strings.Cut(key, ".")
	_, err := os.Lstat(s.recordFile(key))
	return err == nil
}

// remembered says whether a file of a source has a record, which alone is marked when the source is used.
func (s *Store) remembered(name string) bool {
	_, err := os.Lstat(filepath.Join(s.options.Dir, "sources", strings.TrimSuffix(name, ".json")+".json"))
	return err == nil
}

// dropOld removes the old files of a folder for which ok holds.
func (s *Store) dropOld(folder string, old time.Time, ok func(name string) bool) {
	entries, _ := os.ReadDir(filepath.Join(s.options.Dir, folder))
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && !info.ModTime().After(old) && (ok == nil || ok(entry.Name())) {
			_ = os.Remove(filepath.Join(s.options.Dir, folder, entry.Name()))
		}
	}
}

// Environments are all that are recorded and still there.
func (s *Store) Environments() []Built {
	entries, _ := os.ReadDir(filepath.Join(s.options.Dir, "records"))
	var all []Built
	for _, entry := range entries {
		text, err := os.ReadFile(s.recordFile(entry.Name()))
		if err != nil {
			continue
		}
		built, err := parseRecord(text)
		built.root = s.options.Root
		if err == nil && built.Key == entry.Name() && s.present(built) {
			all = append(all, built)
		}
	}
	return all
}
