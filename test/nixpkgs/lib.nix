# The few nixpkgs lib functions that the generated expressions use.
let modules = import ./modules.nix; in
rec {
  inherit (modules) evalModules mkOptionType mergeEqualOption types mkOption mkEnableOption mkIf;
  inherit (builtins) concatStringsSep elem elemAt length filter map foldl' head tail attrNames isAttrs isString isFunction;
  splitString = sep: s: filter isString (builtins.split (escapeRegex sep) s);
  escapeRegex = s: builtins.replaceStrings [ "." "+" "*" "?" "(" ")" "[" "]" "{" "}" "|" "^" "$" ] [ "\\." "\\+" "\\*" "\\?" "\\(" "\\)" "\\[" "\\]" "\\{" "\\}" "\\|" "\\^" "\\$" ] s;
  attrByPath = path: default: set:
    if path == [ ] then set
    else if isAttrs set && set ? ${head path} then attrByPath (tail path) default set.${head path}
    else default;
  hasAttrByPath = path: set:
    path == [ ] || (isAttrs set && set ? ${head path} && hasAttrByPath (tail path) set.${head path});
  getAttrFromPath = path: set:
    if hasAttrByPath path set then attrByPath path null set
    else throw ("cannot find attribute `" + concatStringsSep "." path + "'");
  isDerivation = x: isAttrs x && x ? type && x.type == "derivation";
  unique = foldl' (acc: e: if elem e acc then acc else acc ++ [ e ]) [ ];
  optional = c: x: if c then [ x ] else [ ];
  optionals = c: xs: if c then xs else [ ];
  optionalString = c: s: if c then s else "";
  concatMapStringsSep = sep: f: xs: concatStringsSep sep (map f xs);
  getBin = x: x.bin or x.out or x;
  makeBinPath = concatMapStringsSep ":" (p: "${getBin p}/bin");
  makeLibraryPath = concatMapStringsSep ":" (p: "${p}/lib");
  getName = x: x.pname or (builtins.parseDrvName x.name).name;
  getExe = x: "${getBin x}/bin/${x.meta.mainProgram or x.pname or x.name}";
  genAttrs = names: f: builtins.listToAttrs (map (n: { name = n; value = f n; }) names);
  mapAttrs = builtins.mapAttrs;
  escapeShellArg = a: "'" + builtins.replaceStrings [ "'" ] [ "'\\''" ] (toString a) + "'";
  licenses.mit = { spdxId = "MIT"; free = true; };
  hasPrefix = p: s: builtins.substring 0 (builtins.stringLength p) s == p;
  removePrefix = p: s: if hasPrefix p s then builtins.substring (builtins.stringLength p) (builtins.stringLength s) s else s;
}
