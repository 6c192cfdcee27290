# nixpkgs-mini: the attributes of nixpkgs that generated environments use, as
# real derivations. Every input is a fixed-output path that setup.sh put in
# the store, so no build here ever touches the network.
{ system ? "x86_64-linux", seeds ? builtins.fromJSON (builtins.readFile ./seeds.json), config ? { }, ... }:

let
  lib = import ./lib.nix;

  # A seed is content that setup.sh already added to the store: a derivation
  # with a known output hash, whose output is valid and so never gets built.
  seed = name:
    let s = seeds.${name} or (throw "nixpkgs-mini: no seed `${name}'; run setup.sh"); in
    derivation {
      inherit (s) name;
      inherit system;
      builder = "builtin:fetchurl";
      url = "file:///nixpkgs-mini-seed-missing-run-setup.sh/${s.name}";
      outputHashMode = s.mode;
      outputHashAlgo = "sha256";
      outputHash = s.sha256;
      preferLocalBuild = true;
    };
  hasSeed = name: seeds ? ${name};

  bb = "${seed "busybox"}/bin/busybox";

  # Like stdenv.mkDerivation with only a buildCommand, run by busybox ash.
  mkDerivation =
    { name ? "${pname}-${version}", pname ? null, version ? null, buildCommand, passthru ? { }, meta ? { }, ... }@args:
    let
      drv = derivation (removeAttrs args [ "passthru" "meta" "buildCommand" ] // {
        inherit name system;
        builder = bb;
        args = [ "ash" "-e" "-c" ''
          mkdir -p "$TMPDIR/.bb"; ${bb} --install -s "$TMPDIR/.bb"; export PATH="$TMPDIR/.bb"
          ${buildCommand}
        '' ];
      });
    in
    drv // passthru // {
      inherit meta passthru;
      pname = if pname == null then (builtins.parseDrvName name).name else pname;
      version = if version == null then (builtins.parseDrvName name).version else version;
      outPath = drv.outPath;
      overrideAttrs = f: mkDerivation (args // (f args));
    };

  runCommand = name: env: buildCommand: mkDerivation (env // { inherit name buildCommand; });

  unpack = debs: ''
    mkdir -p root
    ${lib.concatMapStringsSep "\n" (d: "ar p ${seed d} data.tar.xz | xz -dc | tar -x -C root -f -") debs}
  '';

  # Flattens Debian's multi-arch layout into $out/{bin,lib,...}.
  install = ''
    mkdir -p $out/bin $out/lib
    for d in root/usr/bin root/bin; do [ ! -d $d ] || cp -a $d/. $out/bin/; done
    for d in root/lib/x86_64-linux-gnu root/usr/lib/x86_64-linux-gnu root/usr/lib; do
      [ ! -d $d ] || cp -a $d/. $out/lib/
    done
    rm -rf $out/lib/x86_64-linux-gnu
    chmod -R u+w $out
  '';

  glibc = mkDerivation {
    name = "glibc-2.36";
    buildCommand = ''
      ${unpack [ "libc6" "libgcc-s1" "libstdc++6" "libcrypt1" ]}
      ${install}
      cp -a root/lib64/. $out/lib/ 2>/dev/null || true
      rm -rf $out/bin $out/lib/gconv $out/lib/locale $out/lib/audit
      ls $out/lib/ld-linux-x86-64.so.2 > /dev/null
    '';
  };

  patchelf = mkDerivation {
    pname = "patchelf";
    version = "0.14.3";
    buildCommand = ''
      ${unpack [ "patchelf" ]}
      ${install}
      mv $out/bin/patchelf $out/bin/.patchelf-unwrapped
      printf '#!%s\nexec %s --library-path %s %s "$@"\n' \
        ${bash}/bin/bash ${glibc}/lib/ld-linux-x86-64.so.2 ${glibc}/lib $out/bin/.patchelf-unwrapped > $out/bin/patchelf
      chmod +x $out/bin/patchelf
    '';
  };

  # Points every ELF file under $out at the store's own loader and libraries.
  patchElfs = ''
    find $out -type f | while read -r f; do
      [ "$(head -c 4 "$f" | tail -c 3)" = ELF ] || continue
      ${patchelf}/bin/patchelf --set-rpath $out/lib:${glibc}/lib "$f" 2> /dev/null || continue
      if ${patchelf}/bin/patchelf --print-interpreter "$f" > /dev/null 2>&1; then
        ${patchelf}/bin/patchelf --set-interpreter ${glibc}/lib/ld-linux-x86-64.so.2 "$f"
      fi
    done
  '';

  debPackage = { pname, version, debs, extra ? "", meta ? { }, passthru ? { } }: mkDerivation {
    inherit pname version meta passthru;
    buildCommand = ''
      ${unpack debs}
      ${install}
      ${extra}
      ${patchElfs}
    '';
  };

  # wrap BIN VAR=VALUE...: replaces $out/bin/BIN with a script that sets variables.
  wrap = bin: vars: ''
    mv $out/bin/${bin} $out/bin/.${bin}-wrapped
    {
      echo '#!${bash}/bin/bash'
      ${lib.concatMapStringsSep "\n" (n: ''echo "export ${n}=\"${vars.${n}}\""'') (builtins.attrNames vars)}
      echo "exec -a \"\$0\" $out/bin/.${bin}-wrapped \"\$@\""
    } > $out/bin/${bin}
    chmod +x $out/bin/${bin}
  '';

  busybox = runCommand "busybox-1.35.0" { meta.mainProgram = "busybox"; } ''
    mkdir -p $out/bin
    cp ${bb} $out/bin/busybox
    for a in $($out/bin/busybox --list); do [ $a = busybox ] || ln -s busybox $out/bin/$a; done
  '';

  coreutilsNames = [
    "[" "base64" "basename" "cat" "chmod" "chown" "cksum" "comm" "cp" "cut" "date" "dd" "df" "dirname" "du"
    "echo" "env" "expand" "expr" "factor" "false" "fold" "head" "id" "install" "link" "ln" "ls" "md5sum" "mkdir"
    "mkfifo" "mktemp" "mv" "nl" "nproc" "od" "paste" "printf" "pwd" "readlink" "realpath" "rm" "rmdir" "seq"
    "sha1sum" "sha256sum" "sha512sum" "shred" "shuf" "sleep" "sort" "split" "stat" "sum" "sync" "tac" "tail"
    "tee" "test" "timeout" "touch" "tr" "true" "truncate" "tty" "uname" "unexpand" "uniq" "unlink" "wc"
    "whoami" "yes"
  ];
  coreutils = runCommand "coreutils-9.1" { } ''
    mkdir -p $out/bin
    cp ${bb} $out/bin/coreutils-busybox
    have=" $(${bb} --list | tr '\n' ' ') "
    mkdir -p $out/libexec
    mv $out/bin/coreutils-busybox $out/libexec/busybox
    for a in ${lib.concatMapStringsSep " " lib.escapeShellArg coreutilsNames}; do
      case "$have" in *" $a "*) ln -s ../libexec/busybox "$out/bin/$a" ;; esac
    done
  '';
  applets = name: names: runCommand name { } ''
    mkdir -p $out/bin $out/libexec
    cp ${bb} $out/libexec/busybox
    for a in ${toString names}; do ln -s ../libexec/busybox $out/bin/$a; done
  '';

  bash = mkDerivation {
    pname = "bash";
    version = "5.2.15";
    meta.mainProgram = "bash";
    buildCommand = ''
      ${unpack [ "bash-static" ]}
      mkdir -p $out/bin
      cp root/bin/bash-static $out/bin/bash
      ln -s bash $out/bin/sh
    '';
  };

  # Merges the trees of `paths` into one, by symbolic links to their files.
  buildEnv =
    { name, paths, pathsToLink ? [ "/" ], ignoreCollisions ? false, postBuild ? "", meta ? { }, passthru ? { }, extraOutputsToInstall ? [ ], ... }:
    mkDerivation {
      inherit name meta;
      passthru = passthru // { inherit paths; };
      buildCommand = ''
        mkdir -p $out
        for p in ${toString (lib.unique (map toString paths))}; do
          for l in ${toString pathsToLink}; do
            [ -e "$p/$l" ] || continue
            (cd $p; find -L ./$l -type d) | while read -r d; do mkdir -p "$out/$d"; done
            (cd $p; find ./$l ! -type d) | while read -r f; do
              if [ -d "$p/$f" ]; then
                (cd $p; find -L $f ! -type d) | while read -r g; do
                  [ -e "$out/$g" ] || ln -s "$p/$g" "$out/$g"
                done
              elif [ ! -e "$out/$f" ] && [ ! -L "$out/$f" ]; then
                ln -s "$p/$f" "$out/$f"
              elif [ "$(readlink -f "$out/$f")" != "$(readlink -f "$p/$f")" ] ${lib.optionalString ignoreCollisions "&& false"}; then
                echo "error: collision between \`$p/$f' and \`$(readlink "$out/$f")'" >&2; exit 1
              fi
            done
          done
        done
        ${postBuild}
      '';
    };
  symlinkJoin = { name, paths, postBuild ? "", ... }@a: buildEnv ({ ignoreCollisions = true; } // a);

  writeTextFile = { name, text, executable ? false, destination ? "", checkPhase ? "", meta ? { }, passthru ? { }, ... }: mkDerivation {
    inherit name text meta passthru;
    buildCommand = ''
      target=$out${destination}; mkdir -p "$(dirname "$target")"
      printf %s "$text" > "$target"
      ${lib.optionalString executable ''chmod +x "$target"''}
      ${checkPhase}
    '';
  };
  writeText = name: text: writeTextFile { inherit name text; };
  writeShellScriptBin = name: text: writeTextFile {
    inherit name;
    text = "#!${bash}/bin/bash\n${text}\n";
    executable = true;
    destination = "/bin/${name}";
  };
  writeShellScript = name: text: writeTextFile { inherit name; text = "#!${bash}/bin/bash\n${text}\n"; executable = true; };

  ### Python

  pyVer = "3.11";
  site = "lib/python${pyVer}/site-packages";

  python3 = debPackage {
    pname = "python3";
    version = "3.11.2";
    debs = [ "python3.11-minimal" "libpython3.11-minimal" "libpython3.11-stdlib" "zlib1g" "libexpat1" "libffi8" "libbz2-1.0" "liblzma5" "libsqlite3-0" "libuuid1" "libssl3" "libreadline8" "libtinfo6" ];
    meta.mainProgram = "python3";
    extra = ''
      rm -rf $out/lib/python${pyVer}/sitecustomize.py $out/lib/python3 $out/lib/binfmt.d $out/bin/py* $out/lib/engines-3 $out/lib/ossl-modules
      cp root/usr/bin/python${pyVer} $out/bin/python${pyVer}
      ln -s python${pyVer} $out/bin/python3
      ln -s python${pyVer} $out/bin/python
      mkdir -p $out/${site}
      cat > $out/lib/python${pyVer}/sitecustomize.py <<'PY'
      import os, site, sys
      _p = os.environ.pop("NIX_PYTHONPREFIX", None)
      site.addsitedir(sys.base_prefix + "/${site}")
      if _p:
          sys.prefix = sys.exec_prefix = _p
          site.addsitedir(_p + "/${site}")
      _e = os.environ.pop("NIX_PYTHONEXECUTABLE", None)
      if _e:
          sys.executable = _e
      PY
      sed -i 's/^      //' $out/lib/python${pyVer}/sitecustomize.py
    '';
    passthru = {
      pythonVersion = pyVer;
      sitePackages = site;
      pkgs = python3Packages;
      inherit withPackages buildEnv;
      isPy3 = true;
      interpreter = "${python3}/bin/python3";
    };
  };

  # All python modules reachable through propagatedBuildInputs.
  requiredPythonModules = ps:
    map (x: x.value) (builtins.genericClosure {
      startSet = map (p: { key = p.outPath; value = p; }) ps;
      operator = x: map (p: { key = p.outPath; value = p; }) (x.value.propagatedBuildInputs or [ ]);
    });

  withPackages = f:
    let
      env = buildEnv {
        name = "python3-3.11.2-env";
        paths = [ python3 ] ++ requiredPythonModules (f python3Packages);
        meta.mainProgram = "python3";
        postBuild = ''
          for b in python python3 python${pyVer}; do
            rm -f $out/bin/$b
            {
              echo '#!${bash}/bin/bash'
              echo "export NIX_PYTHONPREFIX='$out' NIX_PYTHONEXECUTABLE='$out/bin/$b'"
              echo "exec ${python3}/bin/python${pyVer} \"\$@\""
            } > $out/bin/$b
            chmod +x $out/bin/$b
          done
        '';
        passthru = { interpreter = "${env}/bin/python3"; inherit python3; };
      };
    in
    env;

  pythonModule = { pname, version, files, deps ? [ ] }: mkDerivation {
    name = "python${pyVer}-${pname}-${version}";
    inherit pname version;
    passthru = { propagatedBuildInputs = deps; pythonModule = python3; };
    buildCommand = ''
      d=$out/${site}
      mkdir -p $d/${pname}-${version}.dist-info
      printf 'Metadata-Version: 2.1\nName: ${pname}\nVersion: ${version}\n' > $d/${pname}-${version}.dist-info/METADATA
      ${lib.concatMapStringsSep "\n" (n: ''
        mkdir -p "$(dirname $d/${n})"
        cp ${builtins.toFile (builtins.replaceStrings [ "/" "_" ] [ "-" "" ] n) files.${n}} $d/${n}
      '') (builtins.attrNames files)}
    '';
  };

  python3Packages = rec {
    python = python3;
    tinytable = pythonModule {
      pname = "tinytable";
      version = "1.2.0";
      files."tinytable/__init__.py" = ''
        """A table of dict rows, small enough to read in one look."""
        __version__ = "1.2.0"


        class Table:
            def __init__(self, rows):
                self.rows = [dict(r) for r in rows]

            def column(self, name):
                return [r[name] for r in self.rows]

            def sum(self, name):
                return sum(self.column(name))
      '';
    };
    # Depends on tinytable, which must come along.
    tinyplot = pythonModule {
      pname = "tinyplot";
      version = "0.3.1";
      deps = [ tinytable ];
      files."tinyplot.py" = ''
        import tinytable

        __version__ = "0.3.1"


        def bars(values):
            return "\n".join("#" * int(v) for v in values)
      '';
    };
    # Debian's, so it has a part in C.
    pyyaml = debPackage {
      pname = "python3.11-pyyaml";
      version = "6.0";
      debs = [ "python3-yaml" "libyaml-0-2" ];
      extra = ''
        mkdir -p $out/${site}
        cp -a root/usr/lib/python3/dist-packages/. $out/${site}/
        rm -rf $out/lib/python3
      '';
      passthru = { propagatedBuildInputs = [ ]; pythonModule = python3; };
    };
    # Its build fails.
    brokenbuild = runCommand "python3.11-brokenbuild-1.0" { } "echo 'brokenbuild: this build always fails' >&2; exit 7";
    # Its evaluation fails, as for nixpkgs packages marked broken or unfree.
    markedbroken = throw "Package ‘markedbroken-1.0’ is marked as broken, refusing to evaluate.";
  };

  # An interpreter with libraries, found through a variable.
  withLibraries = { program, bin, set, variable, path }: f:
    let chosen = f set; in
    buildEnv {
      name = "${program.name}-env";
      paths = [ program ] ++ chosen;
      postBuild = ''
        rm -f $out/bin/${bin}
        {
          echo '#!${bash}/bin/bash'
          echo "export ${variable}=\"${path}\''${${variable}:+${if variable == "LUA_PATH" then ";" else ":"}\$${variable}}\""
          echo 'exec ${program}/bin/${bin} "$@"'
        } > $out/bin/${bin}
        chmod +x $out/bin/${bin}
      '';
    };
  perlPackages = {
    TinyTable = writeTextFile {
      name = "perl5.36.0-TinyTable-1.0";
      text = "package TinyTable;\nsub sum { my $n = 0; $n += $_ for @_; $n }\n1;\n";
      destination = "/lib/perl5/TinyTable.pm";
    };
  };
  lua5_4Packages = {
    tinytable = writeTextFile {
      name = "lua5.4-tinytable-1.0";
      text = "return { sum = function(t) local n = 0; for _, v in ipairs(t) do n = n + v end; return n end }\n";
      destination = "/share/lua/5.4/tinytable.lua";
    };
  };
  rubyPackages = {
    tinytable = writeTextFile {
      name = "ruby3.1-tinytable-1.0";
      text = "module TinyTable; def self.sum(t) = t.sum; end\n";
      destination = "/lib/ruby/gems/tinytable.rb";
    };
  };

  perl = debPackage {
    pname = "perl";
    version = "5.36.0";
    debs = [ "perl-base" ];
    meta.mainProgram = "perl";
    passthru = {
      pkgs = perlPackages;
      withPackages = withLibraries { program = perl; bin = "perl"; set = perlPackages; variable = "PERL5LIB"; path = "$out/lib/perl5"; };
    };
    extra = ''
      rm -f $out/bin/perl5*
      ${wrap "perl" { PERL5LIB = "$out/lib/perl-base\\\${PERL5LIB:+:\\\$PERL5LIB}"; }}
    '';
  };

  lua5_4 = debPackage {
    pname = "lua";
    version = "5.4.4";
    debs = [ "lua5.4" "libreadline8" "libtinfo6" ];
    meta.mainProgram = "lua";
    passthru = {
      pkgs = lua5_4Packages;
      withPackages = withLibraries { program = lua5_4; bin = "lua"; set = lua5_4Packages; variable = "LUA_PATH"; path = "$out/share/lua/5.4/?.lua;;"; };
    };
    extra = "ln -sf lua5.4 $out/bin/lua; ln -sf luac5.4 $out/bin/luac";
  };

  ruby = debPackage {
    pname = "ruby";
    version = "3.1.2";
    debs = [ "ruby3.1" "libruby3.1" "libgmp10" "libyaml-0-2" "zlib1g" "libffi8" "libssl3" ];
    meta.mainProgram = "ruby";
    passthru = {
      gems = rubyPackages;
      withPackages = withLibraries { program = ruby; bin = "ruby"; set = rubyPackages; variable = "RUBYLIB"; path = "$out/lib/ruby/gems"; };
    };
    extra = ''
      cp -a root/usr/lib/x86_64-linux-gnu/ruby $out/lib/ruby-arch 2>/dev/null || true
      cp root/usr/bin/ruby3.1 $out/bin/ruby
      rm -rf $out/bin/*3.1 $out/share
      ${wrap "ruby" { RUBYLIB = "$out/lib/ruby/3.1.0:$out/lib/ruby-arch/3.1.0:$out/lib/ruby/vendor_ruby\\\${RUBYLIB:+:\\\$RUBYLIB}"; }}
    '';
  };

  nodejs =
    if !hasSeed "node" then throw "nixpkgs-mini: no node on the host when setup.sh ran"
    else runCommand "nodejs-host" { meta.mainProgram = "node"; } ''
      mkdir -p $out/bin
      cp ${seed "node"}/bin/node $out/bin/node
      chmod u+w $out/bin/node
      ${patchelf}/bin/patchelf --set-interpreter ${glibc}/lib/ld-linux-x86-64.so.2 --set-rpath ${glibc}/lib $out/bin/node
    '';

  jq = debPackage { pname = "jq"; version = "1.6"; debs = [ "jq" "libjq1" "libonig5" ]; meta.mainProgram = "jq"; };
  ripgrep = debPackage { pname = "ripgrep"; version = "13.0.0"; debs = [ "ripgrep" "libpcre2-8-0" ]; meta.mainProgram = "rg"; };
  hello = debPackage { pname = "hello"; version = "2.10"; debs = [ "hello" ]; meta.mainProgram = "hello"; };

  git = debPackage {
    pname = "git";
    version = "2.39.5";
    debs = [ "git" "libpcre2-8-0" "zlib1g" ];
    meta.mainProgram = "git";
    extra = ''
      mkdir -p $out/share
      cp -a root/usr/share/git-core $out/share/
      rm -rf $out/bin/scalar $out/bin/git-shell $out/bin/git-[a-z]*-* $out/lib/git-core/git-remote-http* $out/lib/git-core/git-http*
      ${wrap "git" { GIT_EXEC_PATH = "$out/lib/git-core"; GIT_TEMPLATE_DIR = "$out/share/git-core/templates"; }}
    '';
  };
  file = debPackage {
    pname = "file";
    version = "5.44";
    debs = [ "file" "libmagic1" "libmagic-mgc" "libbz2-1.0" "liblzma5" "zlib1g" ];
    meta.mainProgram = "file";
    extra = ''
      ls $out/lib/file/magic.mgc > /dev/null
      ${wrap "file" { MAGIC = "$out/lib/file/magic.mgc"; }}
    '';
  };
  tree = debPackage { pname = "tree"; version = "2.1.0"; debs = [ "tree" ]; meta.mainProgram = "tree"; };

  # A package that nixpkgs refuses, in its own words (pkgs/stdenv/generic/check-meta.nix).
  refusedUnless = allowed: name: why: if allowed then runCommand name { } "mkdir -p $out/bin; ln -s ${hello}/bin/hello $out/bin/${name}" else throw ''
    Package ‘${name}’ in /nix/store/source/pkgs/${name}/default.nix:7 ${why}, refusing to evaluate.

    a) To temporarily allow it, you can use an environment variable
       for a single invocation of the nix tools.
  '';

  unfree = pname: refusedUnless ((config.allowUnfreePredicate or (_: false)) { inherit pname; name = "${pname}-1.0"; }) "${pname}-1.0" "has an unfree license (‘unfree’)";

  # Named by the project's own flake. What is evaluated is evaluated in full; none of these is ever built.
  absent = name: runCommand name { meta.mainProgram = name; } "echo '${name} is not part of the stand-in' >&2; exit 1";
  buildGoModule = { pname, version, src, vendorHash, subPackages ? [ ], nativeBuildInputs ? [ ], postInstall ? "", meta ? { }, ldflags ? [ ], env ? { }, doCheck ? true }:
    mkDerivation ({
      inherit pname version src vendorHash subPackages nativeBuildInputs postInstall meta ldflags doCheck;
      buildCommand = "echo '${pname} cannot be built from the stand-in' >&2; exit 1";
    } // env);
  # Like nixpkgs' own: bash as builder and a stdenv with a setup, as nix develop wants it.
  shellSetup = runCommand "stdenv-mini" { } ''
    mkdir -p $out
    {
      echo 'export PATH='
      echo 'for p in $nativeBuildInputs ${coreutils} ${bash}; do PATH="$PATH''${PATH:+:}$p/bin"; done'
    } > $out/setup
  '';
  mkShell = { packages ? [ ], name ? "shell", shellHook ? "", ... }@args: derivation (removeAttrs args [ "packages" ] // {
    inherit name system shellHook;
    builder = "${bash}/bin/bash";
    args = [ "-c" "${coreutils}/bin/mkdir -p $out" ];
    stdenv = shellSetup;
    outputs = [ "out" ];
    nativeBuildInputs = packages;
  });

  pkgs = {
    inherit buildGoModule mkShell;
    makeWrapper = absent "makeWrapper";
    bubblewrap = absent "bubblewrap";
    go = absent "go";
    shellcheck = absent "shellcheck";
    nixfmt = absent "nixfmt";
    fd = absent "fd";
    claude-code = unfree "claude-code";
    github-copilot-cli = unfree "github-copilot-cli";
    inherit system lib pkgs runCommand buildEnv symlinkJoin writeText writeTextFile writeShellScript writeShellScriptBin;
    inherit busybox coreutils bash glibc patchelf perl lua5_4 ruby nodejs jq ripgrep hello;
    inherit python3 python3Packages perlPackages lua5_4Packages rubyPackages git file tree;
    gitMinimal = git;
    # The machine's own, where setup.sh was told to take it.
    nix = if hasSeed "nix" then runCommand "nix-mini" { meta.mainProgram = "nix"; } ''
      mkdir -p $out
      cp -r ${seed "nix"}/. $out/
      chmod -R u+w $out
      for p in build channel collect-garbage copy-closure env hash instantiate prefetch-url shell store; do ln -s nix $out/bin/nix-$p; done
      ${patchElfs}
    '' else absent "nix";
    bashInteractive = bash;
    lua = lua5_4;
    python311 = python3;
    python311Packages = python3Packages;
    nodejs_20 = nodejs;
    runCommandLocal = runCommand;
    runtimeShell = "${bash}/bin/bash";
    stdenv = { inherit mkDerivation system; shell = "${bash}/bin/bash"; hostPlatform = { inherit system; isLinux = true; }; };
    stdenvNoCC = pkgs.stdenv;
    gnused = applets "gnused-mini" [ "sed" ];
    gnugrep = applets "gnugrep-mini" [ "grep" "egrep" "fgrep" ];
    gawk = applets "gawk-mini" [ "awk" ];
    findutils = applets "findutils-mini" [ "find" "xargs" ];
    diffutils = applets "diffutils-mini" [ "cmp" "diff" ];
    gnutar = applets "gnutar-mini" [ "tar" ];
    gzip = applets "gzip-mini" [ "gunzip" "gzip" "zcat" ];
    less = applets "less-mini" [ "less" ];
    which = applets "which-mini" [ "which" ];
    bc = applets "bc-mini" [ "bc" ];
    unfreetool = refusedUnless (config.allowUnfree or false) "unfreetool-1.0" "has an unfree license (‘unfree’)";
    insecuretool = refusedUnless (builtins.elem "insecuretool-1.0" (config.permittedInsecurePackages or [ ])) "insecuretool-1.0" "is marked as insecure";
    brokentool = refusedUnless (config.allowBroken or false) "brokentool-1.0" "is marked as broken";
    # For tests of failures, time limits and cancellation.
    brokenbuild = python3Packages.brokenbuild;
    slowbuild = runCommand "slowbuild-1.0" { } "sleep 60; mkdir -p $out/bin";
    cacert = runCommand "cacert-mini" { } "mkdir -p $out/etc/ssl/certs; : > $out/etc/ssl/certs/ca-bundle.crt";
  };
in
pkgs
