# Sourced by the scripts beside it. Brings in what package-lock.json names, when it changed since the last time,
# and sets gatehouse_root and gatehouse_node (the project's own Node 24). Writes to stderr only.

gatehouse_root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
gatehouse_node=$gatehouse_root/node_modules/.bin/node

gatehouse_say() { printf 'gatehouse: %s\n' "$*" >&2; }

gatehouse_fail() {
  gatehouse_say "$@"
  exit 1
}

gatehouse_check_tools() {
  local tool major
  for tool in node npm; do
    command -v "$tool" >/dev/null ||
      gatehouse_fail "$tool was not found. Install Node.js 18 or later with npm, then run this again."
  done
  major=$(node -p 'process.versions.node.split(".")[0]')
  ((major >= 18)) ||
    gatehouse_fail "Node.js $(node --version) is too old to install with. Install Node.js 18 or later, then run this again."
}

# No package's own scripts run: better-sqlite3 carries its binaries, but npm would compile it again for its binding.gyp.
# Only the package "node" needs its script, which fetches the binary for this machine.
gatehouse_install() {
  local start=$SECONDS
  gatehouse_check_tools
  gatehouse_say "installing what package-lock.json names with npm $(npm --version) (about a minute the first time) ..."
  npm ci --ignore-scripts --include=dev --include=optional --no-audit --no-fund --loglevel=error ||
    gatehouse_fail "npm ci failed; what npm says stands above. Mend that (the network? the registry?), then run this again."
  gatehouse_say "fetching the project's own Node.js ..."
  (cd node_modules/node && node installArchSpecificPackage.js) ||
    gatehouse_fail "the project's own Node.js could not be fetched for $(node -p 'process.platform + "-" + process.arch'); what npm says stands above."
  ln -sf ../node/bin/node node_modules/.bin/node
  gatehouse_verify
  cp package-lock.json node_modules/.installed-package-lock.json
  gatehouse_say "installed in $((SECONDS - start)) s."
}

gatehouse_verify() {
  local version
  version=$("$gatehouse_node" --version) ||
    gatehouse_fail "node_modules/.bin/node does not run on this machine. Remove node_modules and run this again."
  [[ $version == v24.* ]] ||
    gatehouse_fail "node_modules/.bin/node is $version, not v24. Remove node_modules and run this again."
  "$gatehouse_node" -e 'new (require("better-sqlite3"))(":memory:").exec("select 1")' ||
    gatehouse_fail "better-sqlite3 cannot open a database: it has binaries for Linux, macOS and Windows on x64 and arm64. The reason stands above."
  "$gatehouse_node" -e 'require("@node-rs/argon2").hashSync("x", { memoryCost: 1024, timeCost: 1 })' ||
    gatehouse_fail "@node-rs/argon2 cannot be loaded, its binary for this machine is missing. The reason stands above."
}

gatehouse_installed() {
  [[ -x $gatehouse_node ]] &&
    cmp -s "$gatehouse_root/package-lock.json" "$gatehouse_root/node_modules/.installed-package-lock.json"
}

gatehouse_install_if_needed() {
  if gatehouse_installed; then return; fi
  (
    cd "$gatehouse_root"
    rm -f node_modules/.installed-package-lock.json
    gatehouse_install
  ) >&2
}
