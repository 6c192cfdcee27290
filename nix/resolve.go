package nix

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// errUnlocked says that a source was never resolved.
var errUnlocked = errors.New("not resolved yet")

// Resolve fetches a source that is not locked, once: what it came to is remembered, also by other processes,
// until Refresh. So a reference to a branch stays what it was.
func (s *Store) Resolve(ctx context.Context, source Source, progress func(Progress)) (Source, error) {
	if known, err := s.known(source); err == nil {
		return known, nil
	}
	return s.Refresh(ctx, source, progress)
}

// Refresh fetches a source anew: a reference to a branch becomes what it is now.
func (s *Store) Refresh(ctx context.Context, source Source, progress func(Progress)) (Source, error) {
	if err := checkRef("nixpkgs", source.Ref); err != nil {
		return Source{}, err
	}
	return s.resolving.do(ctx, source.Ref, progress, func(ctx context.Context, report func(Progress)) (Source, error) {
		return s.fetch(ctx, source.Ref, report)
	})
}

// known is the locked form of a source, if it is remembered and its tree still there.
func (s *Store) known(source Source) (Source, error) {
	if err := source.check(); err != nil {
		return Source{}, err
	}
	if !source.Locked() {
		file := s.sourceFile(source.Ref) + ".json"
		info, err := os.Stat(file)
		if err != nil {
			return Source{}, errUnlocked
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return Source{}, errUnlocked
		}
		touch(file, info)
		ref := source.Ref
		if json.Unmarshal(text, &source) != nil || source.Ref != ref || !source.Locked() || source.check() != nil {
			return Source{}, errUnlocked
		}
	}
	if _, err := os.Lstat(Built{root: s.options.Root}.Real(source.Path)); err != nil {
		return Source{}, errUnlocked
	}
	return source, nil
}

// fetch asks Nix for the tree of a reference, keeps it from the garbage collector, and remembers it.
func (s *Store) fetch(ctx context.Context, ref string, report func(Progress)) (Source, error) {
	report(Progress{Stage: "fetching", Name: ref})
	job := job{what: ref, log: "source-" + keyOf(ref), report: report}
	args := []string{"flake", "prefetch", "--json", ref}
	if !registryName.MatchString(ref) {
		// Nix asks for its global registry also where nothing of it is needed, and fails without a network.
		registry := filepath.Join(s.options.Dir, "sources", "registry.json")
		if err := replace(registry, []byte(`{"flakes":[],"version":2}`)); err != nil {
			return Source{}, err
		}
		args = append(args, "--option", "flake-registry", registry)
	}
	out, err := s.nix(ctx, job, args...)
	if err != nil {
		return Source{}, err
	}
	var answer struct {
		Hash, StorePath string
		Locked          struct{ Rev string }
	}
	source := Source{Ref: ref}
	if json.Unmarshal(out, &answer) == nil {
		source.Path, source.NarHash, source.Revision = answer.StorePath, answer.Hash, answer.Locked.Rev
	}
	if source.Revision == "" {
		source.Revision = refRevision(ref)
	}
	if err := source.check(); err != nil {
		return Source{}, &FetchError{What: ref, Reason: "nix answered with no store path and hash: " + string(out[:min(len(out), 200)])}
	}
	if err := s.keep(ctx, job, source.Path, s.sourceFile(ref)); err != nil {
		return Source{}, err
	}
	text, err := json.Marshal(source)
	if err != nil {
		return Source{}, err
	}
	return source, replace(s.sourceFile(ref)+".json", text)
}

// keep makes a link a root for a path that is in the store.
func (s *Store) keep(ctx context.Context, job job, path, link string) error {
	tool, err := s.Tool(ctx)
	if err != nil {
		return err
	}
	job.log, job.report = "", nil
	_, err = s.tell(ctx, job, tool.Store, append(s.storeFlags(), "--realise", path, "--add-root", link, "--indirect"))
	return err
}

// sourceFile is the root of a reference's tree; its record is beside it.
func (s *Store) sourceFile(ref string) string {
	return filepath.Join(s.options.Dir, "sources", keyOf(ref))
}
