# What a developer of sidecar needs: `nix develop`.
{ pkgs }:
let
  # Those that this nixpkgs has.
  have = names: map (name: pkgs.${name}) (builtins.filter (name: pkgs ? ${name}) names);
  tools = have [
    "go"
    "gopls"
    "golangci-lint"
    "bubblewrap"
    "git"
    "python3"
    "nodejs"
    "perl"
    "shellcheck"
    "gcc"
    "jq"
  ];
in
{
  default =
    if pkgs ? mkShell then
      pkgs.mkShell {
        packages = tools;
        # Go's own toolchain, not one that it would fetch.
        GOTOOLCHAIN = "local";
      }
    else
      pkgs.buildEnv {
        name = "sidecar-shell";
        paths = tools;
        ignoreCollisions = true;
      };
}
