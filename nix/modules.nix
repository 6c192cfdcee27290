# The modules for NixOS and home-manager: the program, and its config file from checked settings.
{ self }:
let
  # module differs between the two only in where things go.
  module =
    install:
    {
      config,
      lib,
      pkgs,
      ...
    }:
    let
      cfg = config.programs.sidecar;
      schema = import ./settings.nix { inherit lib; };
    in
    {
      options.programs.sidecar = {
        enable = lib.mkEnableOption "sidecar, which runs an agent's code in the sandbox of a project";
        package = lib.mkOption {
          type = lib.types.package;
          default = self.packages.${pkgs.stdenv.hostPlatform.system}.default;
          defaultText = "sidecar's own flake's package";
          description = "The package of sidecar.";
        };
        settings = lib.mkOption {
          type = lib.types.submodule { inherit (schema) options; };
          default = { };
          example = {
            limits.timeout = "5m";
            nix.package_denylist = [ "nmap" ];
          };
          description = "The settings, with the keys and values of sidecar's config file.";
        };
      };
      config = lib.mkIf cfg.enable (install {
        inherit (cfg) package;
        text = schema.file cfg.settings;
      });
    };
in
{
  nixos = module (
    { package, text }:
    {
      environment.systemPackages = [ package ];
      environment.etc."sidecar/config.yaml".text = text;
    }
  );
  homeManager = module (
    { package, text }:
    {
      home.packages = [ package ];
      xdg.configFile."sidecar/config.yaml".text = text;
    }
  );
}
