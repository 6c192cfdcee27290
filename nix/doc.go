// Package nix turns a request into an environment that Nix has built, with its closure.
//
//	store, err := nix.Open(nix.Options{Dir: cache, Path: os.Getenv("PATH"), Environ: os.Environ()})
//	built, err := store.Build(ctx, nix.Spec{
//		Nixpkgs:     nix.Source{Ref: nix.DefaultNixpkgs},
//		Interpreter: "python3",
//		Packages:    []string{"ripgrep", "python3Packages.pandas"},
//	}, func(p nix.Progress) { fmt.Println(p.Stage, p.Name) })
//	// built.Bin() goes on PATH; built.Closure is all of the store that it needs.
//
// A request is data from end to end: attribute paths are validated, go to Nix as JSON, and are looked up by a
// constant expression that is evaluated purely (it can read nothing but nixpkgs) and without builds while it
// evaluates. What is built is kept under a key of system, nixpkgs, packages and expression; to find it again
// starts no nix, and needs none. Roots keep it from Nix's garbage collector until Collect lets go of it.
//
// It does not protect against nixpkgs: whoever chooses the reference chooses what is evaluated, and built with
// Nix's own sandbox if that is on. An Output is code of other people, evaluated with all of the user's rights:
// name only what the person trusts. A denylist compares names; a package under another name is another one.
package nix
