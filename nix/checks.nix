# What `nix flake check` builds.
{
  pkgs,
  packages,
  lib,
  nixosModules,
  homeManagerModules,
}:
# The program starts and names its version, found through nothing but its own closure.
(
  if packages ? sidecar then
    {
      sidecar = packages.sidecar;
      starts = pkgs.runCommand "sidecar-starts" { } ''
        ${packages.sidecar}/bin/sidecar --version > $out
      '';
    }
  else
    { }
)
# The scripts of the house are free of what shellcheck knows.
// (
  if pkgs ? shellcheck then
    {
      scripts = pkgs.runCommand "sidecar-scripts" { } ''
        cd ${./..}
        ${pkgs.shellcheck}/bin/shellcheck scripts/* .ci/run test/escapes/run test/escapes/weak
        touch $out
      '';
    }
  else
    { }
)
# Environments are built, and the modules evaluated.
// import ./checks/environments.nix { inherit pkgs lib; }
// import ./checks/agents.nix { inherit pkgs lib; }
// import ./checks/modules.nix { inherit pkgs nixosModules homeManagerModules; }
