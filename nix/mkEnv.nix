# An environment for sidecar: one folder with bin/ and the rest of its packages, in which code runs that sees its closure
# and nothing else of the store. It has what every environment of sidecar has: bin/sh and bin/env, which are /bin/sh and
# /usr/bin/env of a run, and certificates where nixpkgs has them.
{
  pkgs,
  # The environment's name, in requests too.
  name,
  # Packages, in front of all others where two have a program of one name.
  packages ? [ ],
  # The interpreter: a package, or its name in pkgs ("python3").
  interpreter ? null,
  # The interpreter's libraries, as for withPackages: ps: [ ps.numpy ].
  libraries ? null,
  # Variables, all texts.
  env ? { },
  # As in nix-sandbox-mcp: the language that the environment is for. Its interpreter is there even if packages lack it.
  interpreter_type ? null,
  # As in nix-sandbox-mcp, and only written down: sidecar's limits are settings of the person.
  timeout_seconds ? null,
  memory_mb ? null,
}:
let
  # For each language of sidecar its interpreter in nixpkgs, and the programs that run it.
  known = {
    python = {
      attrs = [ "python3" ];
      programs = [
        "python3"
        "python"
      ];
    };
    bash = {
      attrs = [ "bash" ];
      programs = [ "bash" ];
    };
    node = {
      attrs = [ "nodejs" ];
      programs = [
        "node"
        "nodejs"
      ];
    };
    ruby = {
      attrs = [ "ruby" ];
      programs = [ "ruby" ];
    };
    perl = {
      attrs = [ "perl" ];
      programs = [ "perl" ];
    };
    lua = {
      attrs = [ "lua5_4" ];
      programs = [
        "lua"
        "luajit"
      ];
    };
    haskell = {
      attrs = [ "ghc" ];
      programs = [
        "runhaskell"
        "ghc"
      ];
    };
    octave = {
      attrs = [ "octave" ];
      programs = [ "octave" ];
    };
    typescript = {
      attrs = [
        "tsx"
        "nodejs"
      ];
      programs = [
        "tsx"
        "deno"
        "bun"
        "ts-node"
      ];
    };
    go = {
      attrs = [ "go" ];
      programs = [ "go" ];
    };
    php = {
      attrs = [ "php" ];
      programs = [ "php" ];
    };
    r = {
      attrs = [ "R" ];
      programs = [
        "R"
        "Rscript"
      ];
    };
    julia = {
      attrs = [ "julia" ];
      programs = [ "julia" ];
    };
  };

  fail = text: throw "sidecar.lib.mkEnv: environment ${name}: ${text}";
  isPackage = value: builtins.isAttrs value && (value.type or null) == "derivation";
  has = attr: pkgs.${attr} or (fail "this nixpkgs has no ${attr}");

  chosen =
    if interpreter == null || isPackage interpreter then
      interpreter
    else if builtins.isString interpreter then
      has interpreter
    else
      fail "interpreter is a package, or the name of one such as python3";

  language =
    if interpreter_type == null then
      null
    else
      known.${interpreter_type} or (fail "Unknown interpreter_type: '${interpreter_type}'. Must be one of: ${builtins.concatStringsSep ", " (builtins.attrNames known)}"
      );

  # What libraries go into: the interpreter, or that of interpreter_type.
  program =
    if chosen != null then
      chosen
    else if language != null then
      has (builtins.head language.attrs)
    else
      fail "libraries need an interpreter";

  # Each interpreter has its own way to be put together with libraries.
  withLibraries =
    if program ? withPackages then
      program.withPackages libraries
    else if program ? withExtensions then
      program.withExtensions ({ all, enabled }: enabled ++ libraries all)
    else if main program == "ghc" && pkgs ? haskellPackages then
      pkgs.haskellPackages.ghcWithPackages libraries
    else if main program == "R" && pkgs ? rWrapper then
      pkgs.rWrapper.override { packages = libraries pkgs.rPackages; }
    else
      fail "${main program} takes no libraries";

  # Without libraries the interpreter stays the bare one, which is the one in nixpkgs' caches.
  interpreters =
    if libraries != null then
      [ withLibraries ]
    else if chosen != null then
      [ chosen ]
    else
      [ ];
  # Packages come before the interpreter of interpreter_type: they may have it, with libraries.
  typed = if language == null || libraries != null then [ ] else map has language.attrs;

  # main is the name of a package's program, as far as it says.
  main =
    package:
    package.meta.mainProgram or package.pname or (builtins.parseDrvName (package.name or "")).name;

  # The languages that the environment is for: what was asked for, and those whose interpreters are named.
  mains = map main (interpreters ++ packages ++ typed ++ [ pkgs.bash ]);
  # A version may follow the program's name: python3.12.
  is = program: builtins.any (m: builtins.match "${program}[0-9.]*" m != null) mains;
  runs = of: of == interpreter_type || builtins.any is known.${of}.programs;
  languages = builtins.filter runs (builtins.attrNames known);

  variables = builtins.mapAttrs (
    variable: value:
    if builtins.match "[A-Za-z_][A-Za-z0-9_]*" variable == null then
      fail "env: ${variable} is no name of a variable"
    else if builtins.isString value then
      value
    else
      fail "env.${variable} is no text"
  ) env;

  about = {
    inherit name languages;
    env = variables;
  };
  # What passthru says, for who has only the result.
  written = pkgs.writeTextFile {
    name = "sidecar-environment.json";
    text = builtins.toJSON about;
    destination = "/share/sidecar/environment.json";
  };
in
pkgs.buildEnv {
  inherit name;
  # The first of two programs with one name is taken.
  paths =
    interpreters
    ++ packages
    ++ typed
    ++ [
      pkgs.bash
      pkgs.coreutils
    ]
    ++ (if pkgs ? cacert then [ pkgs.cacert ] else [ ])
    ++ [ written ];
  pathsToLink = [
    "/bin"
    "/etc"
    "/include"
    "/lib"
    "/libexec"
    "/share"
  ];
  ignoreCollisions = true;
  passthru.sidecar = about // {
    inherit timeout_seconds memory_mb;
  };
  meta = {
    description = "An environment for sidecar with ${builtins.concatStringsSep ", " languages}";
    mainProgram = if interpreters != [ ] then main program else "bash";
  };
}
