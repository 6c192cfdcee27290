# What lib.mkEnv makes: each environment is built, and what it has is tried in the build.
{ pkgs, lib }:
let
  make = args: lib.mkEnv ({ inherit pkgs; } // args);

  # holds builds the environment, and has script try it, with $env and a PATH of only its bin.
  holds =
    env: languages: script:
    pkgs.runCommand "sidecar-${env.name}" { } ''
      env=${env}
      for program in sh bash env cat; do
        [ -x $env/bin/$program ] || { echo "no bin/$program in ${env.name}" >&2; exit 1; }
      done
      [ "$(cat $env/share/sidecar/environment.json)" = ${
        quoted (
          builtins.toJSON {
            inherit (env) name;
            inherit (env.sidecar) env languages;
          }
        )
      } ]
      [ ${quoted (builtins.toJSON env.sidecar.languages)} = ${quoted (builtins.toJSON languages)} ]
      PATH=$env/bin
      ${script}
      echo tried > $out
    '';
  quoted = text: "'" + builtins.replaceStrings [ "'" ] [ "'\\''" ] text + "'";

  refused = args: !(builtins.tryEval (make ({ name = "refused"; } // args)).drvPath).success;
in
{
  # The first one of a set that is there, so that real nixpkgs and the stand-in both have one.
  env-python =
    holds
      (make {
        name = "python";
        interpreter = "python3";
        libraries = ps: [ ps.pyyaml ];
        packages = [ pkgs.jq ];
        env.GREETING = "hello";
      })
      [
        "bash"
        "python"
      ]
      ''
        [ "$(python3 -c 'import yaml; print(yaml.safe_load("[1]"))')" = "[1]" ]
        [ "$(jq -n 1+1)" = 2 ]
      '';

  env-tools = holds (make {
    name = "tools";
    packages = [
      pkgs.ripgrep
      pkgs.gnugrep
    ];
  }) [ "bash" ] "rg --version | grep -q ripgrep";

  # nix-sandbox-mcp's: packages have the interpreter, or not.
  env-sandbox =
    holds
      (lib.mkSandbox {
        inherit pkgs;
        name = "data-science";
        interpreter_type = "python";
        packages = [ (pkgs.python3.withPackages (ps: [ ps.pyyaml ])) ];
        timeout_seconds = 30;
        memory_mb = 512;
      })
      [
        "bash"
        "python"
      ]
      "python3 -c 'import yaml'";
  env-sandbox-bare =
    holds
      (lib.mkSandbox {
        inherit pkgs;
        name = "perl";
        interpreter_type = "perl";
        packages = [ ];
      })
      [
        "bash"
        "perl"
      ]
      ''[ "$(perl -e 'print 6*7')" = 42 ]'';

  env-refused =
    if
      refused { interpreter_type = "cobol"; }
      && refused { interpreter = "no-such-interpreter"; }
      && refused { libraries = ps: [ ]; }
      && refused {
        interpreter = pkgs.jq;
        libraries = ps: [ ];
      }
      && refused { env."1A" = ""; }
      && refused { env.A = 1; }
    then
      pkgs.runCommand "sidecar-env-refused" { } "echo refused > $out"
    else
      throw "lib.mkEnv takes what it should refuse";
}
