package nix

import (
	"cmp"
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
	now, err := s.Refresh(ctx, source, progress)
	if err == nil && source.Locked() && source.NarHash != now.NarHash {
		return Source{}, &FetchError{What: source.Ref, Reason: "it holds something else now: " + now.NarHash + ", not " + source.NarHash}
	}
	return now, err
}

// Refresh fetches a source anew: a reference to a branch becomes what it is now.
func (s *Store) Refresh(ctx context.Context, source Source, progress func(Progress)) (Source, error) {
	if err := checkRef("nixpkgs", source.Ref); err != nil {
		return Source{}, err
	}
	return s.resolving.do(ctx, source.Ref, progress, func(ctx context.Context, report func(Progress)) (Source, error) {
		return s.fetch(ctx, source, report)
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
func (s *Store) fetch(ctx context.Context, asked Source, report func(Progress)) (Source, error) {
	ref := asked.Ref
	report(Progress{Stage: "fetching", Name: ref})
	job := job{what: ref, log: "source-" + keyOf(ref), report: report}
	args, err := s.prefetch(ref)
	if err != nil {
		return Source{}, err
	}
	out, err := s.nix(ctx, job, args...)
	if err != nil {
		return Source{}, err
	}
	source := parsePrefetch(out, asked)
	if !source.Locked() || source.check() != nil {
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

// prefetch is the command that fetches a reference.
func (s *Store) prefetch(ref string) ([]string, error) {
	args := []string{"flake", "prefetch", "--json", ref}
	if registryName().MatchString(ref) {
		return args, nil
	}
	// Nix asks for its global registry also where nothing of it is needed, and fails without a network.
	registry := filepath.Join(s.options.Dir, "sources", "registry.json")
	return append(args, "--option", "flake-registry", registry), replace(registry, []byte(`{"flakes":[],"version":2}`))
}

// parsePrefetch reads the answer; before 2.19 it tells no commit.
func parsePrefetch(out []byte, asked Source) Source {
	var answer struct {
		Hash, StorePath string
		Locked          struct{ Rev string }
	}
	if json.Unmarshal(out, &answer) != nil {
		return Source{}
	}
	source := Source{Ref: asked.Ref, Path: answer.StorePath, NarHash: answer.Hash}
	source.Revision = cmp.Or(answer.Locked.Rev, asked.Revision, refRevision(asked.Ref))
	return source
}

// keep makes a link a root for a path that is in the store.
func (s *Store) keep(ctx context.Context, job job, path, link string) error {
	tool, err := s.Tool(ctx)
	if err != nil {
		return err
	}
	job.log, job.report, job.dir = "", nil, ""
	_, err = s.tell(ctx, job, tool.Store, append(s.storeFlags(), "--realise", path, "--add-root", link, "--indirect"))
	return err
}

// sourceFile is the root of a reference's tree; its record is beside it.
func (s *Store) sourceFile(ref string) string {
	return filepath.Join(s.options.Dir, "sources", keyOf(ref))
}
