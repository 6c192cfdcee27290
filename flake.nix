{
  description = "sidecar: an agent's code, in the sandbox of your project";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { self, nixpkgs }:
    let
      # The sandbox is Linux's; the client side builds elsewhere too, but has nothing to start.
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      # A nixpkgs that knows fewer systems (the offline stand-in of the tests) is served for those.
      known = builtins.filter (system: nixpkgs.legacyPackages ? ${system}) systems;
      eachOf =
        systems: f:
        builtins.listToAttrs (
          map (system: {
            name = system;
            value = f nixpkgs.legacyPackages.${system};
          }) systems
        );
      each = eachOf known;
      # Where nixpkgs has a formatter of Nix code.
      formatted = builtins.filter (
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        pkgs ? nixfmt || pkgs ? nixfmt-rfc-style
      ) known;
      # Commits have a short name; a dirty tree has none.
      version = self.shortRev or "dirty";
      modules = import ./nix/modules.nix { inherit self; };
    in
    {
      # README.md and docs/nix.md have the arguments. What needs no pkgs is there by system, too, as in agent-sandbox.nix.
      lib = {
        mkEnv = import ./nix/mkEnv.nix;
        mkSandbox = import ./nix/sandboxes.nix { inherit (self) packages; };
        commonTools = import ./nix/commonTools.nix;
      }
      // each (pkgs: {
        mkSandbox = args: self.lib.mkSandbox ({ inherit pkgs; } // args);
        commonTools = self.lib.commonTools pkgs;
      });
      nixosModules.default = modules.nixos;
      homeManagerModules.default = modules.homeManager;
      # A text, since an old nix with a store elsewhere refuses the path.
      templates =
        builtins.mapAttrs
          (name: description: {
            path = "${./nix/templates}/${name}";
            inherit description;
          })
          {
            default = "A project with an environment for sidecar";
            claude = "A dev shell with Claude Code in the project's sandbox";
            copilot = "A dev shell with GitHub's Copilot CLI in the project's sandbox";
          };
      packages = each (pkgs: import ./nix/packages.nix { inherit pkgs version; });
      devShells = each (pkgs: import ./nix/shell.nix { inherit pkgs; });
      checks = each (
        pkgs:
        import ./nix/checks.nix {
          inherit pkgs;
          inherit (self) lib nixosModules homeManagerModules;
          packages = self.packages.${pkgs.system};
        }
      );
      formatter = eachOf formatted (pkgs: pkgs.nixfmt or pkgs.nixfmt-rfc-style);
    };
}
