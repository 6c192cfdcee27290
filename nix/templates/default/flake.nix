{
  description = "A project with an environment for sidecar";

  inputs = {
    nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";
    sidecar.url = "git+https://code.sidecar.dev/sidecar";
    sidecar.inputs.nixpkgs.follows = "nixpkgs";
  };

  outputs =
    { nixpkgs, sidecar, ... }:
    let
      systems = builtins.filter (system: nixpkgs.legacyPackages ? ${system}) [
        "x86_64-linux"
        "aarch64-linux"
      ];
      each =
        f:
        builtins.listToAttrs (
          map (system: {
            name = system;
            value = f nixpkgs.legacyPackages.${system};
          }) systems
        );
    in
    {
      # nix build .#env
      packages = each (pkgs: {
        env = sidecar.lib.mkEnv {
          inherit pkgs;
          name = "env";
          interpreter = "python3";
          libraries = ps: [ ps.pyyaml ];
          packages = [
            pkgs.jq
            pkgs.ripgrep
          ];
        };
      });
    };
}
