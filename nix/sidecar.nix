# The program, with the bubblewrap and the git that it starts.
{
  lib,
  buildGoModule,
  makeWrapper,
  bubblewrap,
  git,
  version,
}:
buildGoModule {
  pname = "sidecar";
  inherit version;

  # Only what the program is built from, so that a change of the documentation builds nothing.
  src = builtins.path {
    name = "sidecar-source";
    path = ./..;
    filter =
      path: type:
      let
        top = builtins.head (
          builtins.filter builtins.isString (
            builtins.split "/" (lib.removePrefix (toString ./.. + "/") (toString path))
          )
        );
      in
      builtins.elem top [
        "cmd"
        "go.mod"
        "go.sum"
        "nix"
        "sandbox"
        "sidecar"
        "workspace"
      ];
  };

  # The hash of what `go mod vendor` writes. scripts/vendor-hash computes it anew.
  vendorHash = builtins.replaceStrings [ "\n" ] [ "" ] (builtins.readFile ./vendor-hash);

  subPackages = [ "cmd/sidecar" ];
  # Static, since the program is also what runs first inside a sandbox that may have no libraries.
  env.CGO_ENABLED = 0;
  ldflags = [
    "-s"
    "-w"
    "-X main.version=${version}"
  ];
  # The tests start sandboxes, which a builder of Nix does not allow; CI runs them outside.
  doCheck = false;

  nativeBuildInputs = [ makeWrapper ];
  postInstall = ''
    wrapProgram $out/bin/sidecar --suffix PATH : ${
      lib.makeBinPath [
        bubblewrap
        git
      ]
    }
  '';

  meta = {
    description = "Runs an agent's code in the sandbox of your project";
    license = lib.licenses.mit;
    mainProgram = "sidecar";
    platforms = [
      "x86_64-linux"
      "aarch64-linux"
    ];
  };
}
