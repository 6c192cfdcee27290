{
  description = "A dev shell with GitHub's Copilot CLI in the project's sandbox";

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
    in
    {
      # nix develop
      devShells = nixpkgs.lib.genAttrs systems (
        system:
        let
          pkgs = import nixpkgs {
            inherit system;
            config.allowUnfreePredicate = pkg: nixpkgs.lib.getName pkg == "github-copilot-cli";
          };
          copilot-sandboxed = sidecar.lib.mkSandbox {
            inherit pkgs;
            pkg = pkgs.github-copilot-cli;
            binName = "copilot";
            outName = "copilot-sandboxed";
            allowedPackages = sidecar.lib.commonTools pkgs;
            # A home of its own, where it finds its login and settings again. Your own would be there with
            # rwDirs = [ "$HOME/.copilot" ], and what it writes into it is obeyed outside of a sandbox, too.
            home = "kept";
            # Evaluated when it starts, so that no value gets into the store.
            env.GITHUB_TOKEN = "$GITHUB_TOKEN";
            allowedDomains = {
              "githubcopilot.com" = "*";
              "github.com" = "*";
              "githubusercontent.com" = [
                "GET"
                "HEAD"
              ];
            };
          };
        in
        {
          default = pkgs.mkShell { packages = [ copilot-sandboxed ]; };
        }
      );
    };
}
