# One environment from data alone: spec is JSON that Go has validated, and no part of it becomes code. It is
# evaluated purely, so that it reads nothing but the locked nixpkgs. What cannot be found is thrown as
# "sidecar:KIND:ATTRIBUTE:", which Go reads back.
{ spec }:
let
  request = builtins.fromJSON spec;
  inherit (request) system;

  fail = kind: path: throw "sidecar:${kind}:${builtins.concatStringsSep "." path}:";
  isDerivation = v: builtins.isAttrs v && (v.type or null) == "derivation";
  isSet = v: builtins.isAttrs v && !(isDerivation v);

  source = builtins.fetchTree {
    type = "path";
    inherit (request.nixpkgs) path narHash;
  };
  # nixpkgs itself is called, so that it can be configured; a flake around it has legacyPackages.
  called = builtins.pathExists (source + "/default.nix");
  function = import source;
  isNixpkgs = called && builtins.isFunction function && builtins.functionArgs function ? system;
  outputs = builtins.getFlake request.nixpkgs.flake;
  flakePackages =
    (outputs.legacyPackages or outputs.packages or (fail "no-nixpkgs" [ "legacyPackages" ])).${system}
      or (fail "no-system" [ system ]);
  pkgs =
    if isNixpkgs then
      function {
        inherit system;
        config = request.config;
        overlays = [ ];
      }
    else
      flakePackages;

  # member finds the package NAME of SET, which is at the attribute path AT.
  member =
    at: set: name:
    let
      value = set.${name};
    in
    if !(isSet set) then
      fail "no-set" at
    else if !(set ? ${name}) then
      fail "unknown" (at ++ [ name ])
    else if isDerivation value then
      value
    else
      fail "no-package" (at ++ [ name ]);

  package =
    path:
    let
      set = builtins.head path;
    in
    if builtins.length path == 1 then
      member [ ] pkgs set
    else if !(pkgs ? ${set}) then
      fail "unknown" [ set ]
    else
      member [ set ] pkgs.${set} (builtins.elemAt path 1);

  # Each interpreter has its own way to be put together with libraries.
  withLibraries =
    {
      interpreter,
      set,
      how,
      names,
    }:
    let
      program = package [ interpreter ];
      pick = libraries: map (member [ set ] libraries) names;
      ways = {
        withPackages =
          if program ? withPackages then program.withPackages pick else fail "no-libraries" [ interpreter ];
        withExtensions = program.withExtensions ({ all, enabled }: enabled ++ pick all);
        ghcWithPackages = (pkgs.${set} or (fail "unknown" [ set ])).ghcWithPackages pick;
        rWrapper = pkgs.rWrapper.override { packages = pick (pkgs.${set} or (fail "unknown" [ set ])); };
      };
    in
    ways.${how};
in
pkgs.buildEnv {
  name = "sidecar-env";
  # The first of two programs with one name is taken: the interpreter with its libraries before the rest.
  paths = map withLibraries request.libraries ++ map package request.packages;
  pathsToLink = [
    "/bin"
    "/etc"
    "/include"
    "/lib"
    "/libexec"
    "/share"
  ];
  ignoreCollisions = true;
}
