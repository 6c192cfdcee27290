# The packages of the flake. Each is left out where nixpkgs lacks what it is made with.
{ pkgs, version }:
if pkgs ? buildGoModule && pkgs ? makeWrapper then
  rec {
    sidecar = import ./sidecar.nix {
      inherit version;
      inherit (pkgs)
        lib
        buildGoModule
        makeWrapper
        bubblewrap
        git
        ;
    };
    default = sidecar;
  }
else
  { }
