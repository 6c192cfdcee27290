# The names of what a set of nixpkgs holds ("" is nixpkgs itself), for suggestions; no value is evaluated.
{ spec }:
let
  request = builtins.fromJSON spec;
  source = builtins.fetchTree {
    type = "path";
    inherit (request.nixpkgs) path narHash;
  };
  function = import source;
  isNixpkgs =
    builtins.pathExists (source + "/default.nix")
    && builtins.isFunction function
    && builtins.functionArgs function ? system;
  outputs = builtins.getFlake request.nixpkgs.flake;
  pkgs =
    if isNixpkgs then
      function {
        inherit (request) system;
        config = { };
        overlays = [ ];
      }
    else
      (outputs.legacyPackages or outputs.packages or { }).${request.system} or { };
  # Not every interpreter's libraries have a set of that name at the top.
  program = pkgs.${request.interpreter} or { };
  set =
    if request.set == "" then pkgs else pkgs.${request.set} or (program.pkgs or (program.gems or { }));
in
# An attribute, since nix eval calls a function only on its way to one.
{
  names =
    if builtins.isAttrs set && (set.type or null) != "derivation" then builtins.attrNames set else [ ];
}
