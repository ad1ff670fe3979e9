#!/usr/bin/env bash
# Tests the files that scripts/dist.sh wrote to dist/: their contents, whether they run on an old Debian and in the container's root file
# system, and the installation, upgrade, removal and purge of the Debian package. Changes nothing outside of a temporary folder.
# Needs root, for chroot and for mounts in a private namespace.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$ROOT"

# Each is a function below.
TESTS=(
  the_checksums_are_right_and_of_every_file
  the_binary_has_at_most_42_mb
  the_binary_needs_no_newer_library_than_its_package_names
  one_allocator_serves_the_binary_and_the_c_library
  no_path_of_this_machine_is_in_the_binary
  no_time_of_its_build_is_in_the_binary
  the_tar_file_has_everything_and_belongs_to_nobody_here
  the_list_of_what_is_inside_is_that_of_the_server
  the_licenses_name_everything_on_that_list
  the_client_alone_runs_on_debian_11_and_is_small
  the_client_is_also_for_arm
  it_runs_on_debian_11
  the_package_is_installed_and_runs_when_it_is_configured
  an_upgrade_keeps_the_configuration_and_restarts_what_runs
  a_removed_package_keeps_configuration_and_database
  a_purged_package_keeps_the_database_and_says_so
  the_commands_to_install_it_by_hand_work
  the_commands_for_a_socket_work
  the_image_runs_read_only_and_without_root
  the_image_trusts_its_authorities_and_resolves_names
)

main() {
  [[ $(id -u) == 0 ]] || fail "these tests change their root folder, which only root may."
  [[ -s dist/SHA256SUMS ]] || fail "there is no dist/SHA256SUMS: make dist"
  if [[ ${1:-} != inside ]]; then
    # The mounts below and the servers end with this process.
    exec unshare --mount --pid --fork --kill-child --mount-proc "$0" inside "$@"
  fi
  shift
  work=$(mktemp -d)
  trap clean_up EXIT
  mkdir "$work/tarball" "$work/debian" "$work/image"
  tar -xzf dist/docket-*-x86_64-linux.tar.gz -C "$work/tarball" --strip-components=1
  tar -xf "$DEBIAN_11" -C "$work/debian"
  ln -sfn /proc/self/fd/0 "$work/debian/dev/stdin"
  mount --types proc proc "$work/debian/proc"
  tar -xzf dist/docket-*-rootfs.tar.gz -C "$work/image"
  local test good=0 bad=0 log=$work/log
  for test in "${TESTS[@]}"; do
    if [[ -n ${1:-} && $test != *"$1"* ]]; then continue; fi
    # Not in a condition: there `set -e` would be off.
    set +e
    (set -euo pipefail; "$test") >"$log" 2>&1
    local status=$?
    set -e
    if ((status == 0)); then
      good=$((good + 1))
      say "test $test ... ok"
    else
      bad=$((bad + 1))
      say "test $test ... FAILED"
      sed 's/^/    /' "$log"
    fi
  done
  say "test result: $( ((bad == 0)) && echo ok || echo FAILED). $good passed; $bad failed; 0 ignored"
  ((bad == 0))
}

clean_up() {
  local mount
  for mount in $(findmnt --noheadings --raw --output TARGET | grep "^$work/" | sort --reverse); do umount --lazy "$mount"; done
  rm -rf --one-file-system "$work"
}

the_checksums_are_right_and_of_every_file() {
  cd dist
  sha256sum --check --strict SHA256SUMS
  same "$(sed 's/^[^ ]* .//' SHA256SUMS | sort)" "$(find . -type f ! -name SHA256SUMS -printf '%P\n' | sort)"
}

# 1 MB is 1,000,000 bytes. docs/adr/0026-cargo-leptos.md has what made it smaller.
the_binary_has_at_most_42_mb() {
  local bytes
  bytes=$(wc -c <"$work/tarball/docket")
  ((bytes <= 42000000)) || fail "the binary has $bytes bytes"
}

the_binary_needs_no_newer_library_than_its_package_names() {
  local newest depends library
  newest=$(readelf --version-info --wide "$work/tarball/docket" | grep -o 'GLIBC_[0-9.]*' | sort --version-sort --unique | tail -n 1)
  same "$newest" GLIBC_2.28
  depends=$(dpkg-deb --field dist/docket_*_amd64.deb Depends)
  contains "$depends" "libc6 (>= ${newest#GLIBC_})"
  # All of them are from the package libc6.
  while read -r library; do
    contains " ld-linux-x86-64.so.2 libc.so.6 libdl.so.2 libm.so.6 libpthread.so.0 libresolv.so.2 librt.so.1 libutil.so.1 " " $library "
  done < <(readelf --dynamic "$work/tarball/docket" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
}

# The binary frees memory that the C library allocates, and vice versa: both must use the same functions.
one_allocator_serves_the_binary_and_the_c_library() {
  local symbols name
  symbols=$(readelf --dyn-syms --wide "$work/tarball/docket" | awk '$7 != "UND" { print " " $8 " " }')
  for name in malloc free calloc realloc posix_memalign aligned_alloc; do contains "$symbols" " $name "; done
}

no_path_of_this_machine_is_in_the_binary() {
  local path
  for path in "$ROOT" "$CARGO_TARGET_DIR" "${CARGO_HOME:-$HOME/.cargo}" "$BUILD_CACHE"; do
    same "$(grep --text --only-matching "$path/[[:alnum:]_./-]*" "$work/tarball/docket" | sort --unique)" ""
  done
}

# In the format of __DATE__, which C sources use together with __TIME__.
no_time_of_its_build_is_in_the_binary() {
  same "$(grep --text --only-matching --extended-regexp '[A-Z][a-z]{2} [ 0-3][0-9] 20[0-9]{2}' "$work/tarball/docket" | sort --unique)" ""
}

the_tar_file_has_everything_and_belongs_to_nobody_here() {
  local listed version name
  listed=$(tar --list --verbose --numeric-owner -zf dist/docket-*-x86_64-linux.tar.gz)
  for name in docket docket.service docket.socket Leptos.toml CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE THIRD-PARTY-LICENSES man/docket.1 \
    man/docket-backup.1 completions/docket.bash completions/_docket completions/docket.fish; do
    [[ -s $work/tarball/$name ]] || fail "$name is missing or empty"
  done
  same "$(awk '{ print $2 }' <<<"$listed" | sort --unique)" 0/0
  same "$(awk '{ print $4, $5 }' <<<"$listed" | sort --unique | wc -l)" 1
  version=$("$work/tarball/docket" --version)
  contains "$(ls dist)" "docket-${version#docket }-x86_64-linux.tar.gz"
  same "$(sha256sum <"$work/tarball/docket")" "$(sha256sum <target/release/docket)"
}

the_list_of_what_is_inside_is_that_of_the_server() {
  local inside compiled
  inside=$(node -p '
    const bom = JSON.parse(require("fs").readFileSync(process.argv[1]));
    if (bom.bomFormat !== "CycloneDX" || bom.metadata.component.name !== "docket") throw new Error("no CycloneDX of docket");
    bom.components.map(({ name, version }) => `${name} ${version}`).join("\n")' dist/docket-*.cdx.json | sort --unique)
  compiled=$(cargo tree --locked --prefix none --edges normal --no-default-features --features ssr --format '{p}' \
    --target x86_64-unknown-linux-gnu | sed 's/ v\([^ ]*\).*/ \1/' | grep -v '^docket ' | sort --unique)
  same "$inside" "$compiled"
  [[ -n $inside ]]
  # Used by tests only.
  never '^(wiremock|proptest|html5ever) ' <<<"$inside"
  never "$ROOT" <"$(echo dist/docket-*.cdx.json)"
}

the_licenses_name_everything_on_that_list() {
  node -e '
    const [bom, licenses] = process.argv.slice(1).map((file) => require("fs").readFileSync(file, "utf8"));
    const missing = JSON.parse(bom).components.filter(({ name, version, purl }) =>
      !purl.includes("download_url=file") && !licenses.includes(`\n${name} ${version} (`));
    if (missing.length > 0) throw new Error(missing.map(({ name }) => name).join(" "));' \
    dist/docket-*.cdx.json "$work/tarball/THIRD-PARTY-LICENSES"
}

# On a machine without authorities it says what is missing, and with DOCKET_CA_FILE it needs none.
the_client_alone_runs_on_debian_11_and_is_small() {
  local version
  client x86_64
  install -m 755 "$work/client/docket-client" "$work/debian/tmp/docket-client"
  version=$(in_debian /tmp/docket-client --version)
  same "$version" "docket-client $("$work/tarball/docket" --version | sed 's/^docket //')"
  refuses 2 DOCKET_SERVER in_debian /tmp/docket-client job list
  DOCKET_SERVER=http://127.0.0.1:9 DOCKET_TOKEN=dkt_x \
    refuses 5 "cannot be reached" in_debian /tmp/docket-client job show 1 --project docs --wait --timeout 1s
  (($(wc -c <"$work/client/docket-client") <= 6000000))
}

the_client_is_also_for_arm() {
  client aarch64
  contains "$(readelf --file-header "$work/client/docket-client")" AArch64
  same "$(readelf --version-info --wide "$work/client/docket-client" | grep -o 'GLIBC_[0-9.]*' | sort --version-sort --unique | tail -n 1)" GLIBC_2.28
}

# client ARCHITECTURE: unpacks the client.
client() {
  rm -rf "$work/client"
  mkdir "$work/client"
  tar -xzf dist/docket-client-*-linux-"$1".tar.gz -C "$work/client" --strip-components=1
  [[ -s $work/client/LICENSE && -s $work/client/THIRD-PARTY-LICENSES ]]
}

it_runs_on_debian_11() {
  contains "$(<"$work/debian/etc/debian_version")" 11.
  install -m 755 "$work/tarball/docket" "$work/debian/tmp/docket"
  serves chroot "$work/debian" /tmp/docket demo --addr 127.0.0.1:0
}

the_package_is_installed_and_runs_when_it_is_configured() {
  fake_service_manager
  local output
  output=$(documented "A Debian package")
  contains "$output" "does not run yet"
  same "$(in_debian dpkg-query --show --showformat='${Status}' docket)" "install ok installed"
  contains "$(in_debian dpkg-query --show --showformat='${Conffiles}' docket)" /etc/docket/Leptos.toml
  # The package itself neither started nor enabled it: it was not configured.
  [[ -z $(find "$work/debian/etc/systemd" -name 'docket.service') ]]
  in_debian test -s /usr/lib/systemd/system/docket.service
  in_debian test -s /usr/share/man/man1/docket.1.gz -o -s /usr/share/man/man1/docket.1
  cmp packaging/docket.service "$work/debian/usr/lib/systemd/system/docket.service"
  # The commands of a person come after the package's own.
  same "$(tail -n 1 "$work/debian/var/log/service-manager")" "systemctl enable --now docket"
  never 'start|enable' < <(sed '$d' "$work/debian/var/log/service-manager")
  in_debian docket user list --config /etc/docket/Leptos.toml
  [[ -s $work/debian/var/lib/private/docket/docket.db ]]
  DOCKET_ADDR=127.0.0.1:0 serves in_debian docket serve --config /etc/docket/Leptos.toml
}

an_upgrade_keeps_the_configuration_and_restarts_what_runs() {
  local edited
  edited=$(<"$work/debian/etc/docket/Leptos.toml")
  fake_service_manager
  newer 9.0.1 ""
  in_debian dpkg --install /tmp/newer.deb
  same "$(<"$work/debian/etc/docket/Leptos.toml")" "$edited"
  contains "$(<"$work/debian/var/log/service-manager")" "try-restart docket.service"
  never ' (stop|enable) ' <"$work/debian/var/log/service-manager"
  # The package has a new version of an edited file: dpkg stores it next to the edited one.
  newer 9.0.2 "# A new key."
  in_debian dpkg --force-confdef --force-confold --install /tmp/newer.deb
  same "$(<"$work/debian/etc/docket/Leptos.toml")" "$edited"
  grep '^# A new key.$' "$work/debian/etc/docket/Leptos.toml.dpkg-dist"
}

a_removed_package_keeps_configuration_and_database() {
  fake_service_manager
  in_debian dpkg --remove docket
  contains "$(<"$work/debian/var/log/service-manager")" "stop docket.service"
  [[ ! -e $work/debian/usr/bin/docket && ! -e $work/debian/usr/lib/systemd/system/docket.service ]]
  [[ -s $work/debian/etc/docket/Leptos.toml && -s $work/debian/etc/docket/api-key ]]
  [[ -s $work/debian/var/lib/private/docket/docket.db ]]
}

a_purged_package_keeps_the_database_and_says_so() {
  local output
  fake_service_manager
  output=$(in_debian dpkg --purge docket)
  contains "$output" "docket: /var/lib/private/docket is kept; remove it with: rm -r /var/lib/private/docket"
  contains "$output" "docket: /etc/docket/api-key is kept"
  [[ ! -e $work/debian/etc/docket/Leptos.toml ]]
  [[ -s $work/debian/var/lib/private/docket/docket.db && -s $work/debian/etc/docket/api-key ]]
  same "$(in_debian dpkg-query --list docket 2>/dev/null | grep -c '^.[ic]' || true)" 0
}

the_commands_to_install_it_by_hand_work() {
  fake_service_manager
  rm -rf "$work/debian/etc/docket"
  documented "By hand"
  same "$(tail -n 1 "$work/debian/var/log/service-manager")" "systemctl enable --now docket"
  cmp packaging/docket.service "$work/debian/etc/systemd/system/docket.service"
  DOCKET_ADDR=127.0.0.1:0 serves in_debian docket serve --config /etc/docket/Leptos.toml
}

the_commands_for_a_socket_work() {
  fake_service_manager
  mkdir -p "$work/debian/etc/systemd/system" "$work/debian/root/source"
  cp -r packaging "$work/debian/root/source/"
  commands_of service "Without losing a request"
  in_debian sh -ec 'cd /root/source; exec sh -e /root/commands'
  cmp packaging/docket.socket "$work/debian/etc/systemd/system/docket.socket"
  same "$(<"$work/debian/var/log/service-manager")" "systemctl daemon-reload
systemctl stop docket
systemctl enable --now docket.socket docket"
  # The paths in package and tar file, as documented.
  cmp packaging/docket.socket "$work/tarball/docket.socket"
  contains "$(dpkg-deb --contents dist/docket_*_amd64.deb)" " ./usr/share/doc/docket/examples/docket.socket"
}

the_image_runs_read_only_and_without_root() {
  read_only_image
  # Only the volume is writable, and no file of the image belongs to the user.
  if touch "$work/image/usr/x"; then fail "the image can be written"; fi
  same "$(find "$work/image" -xdev -path "$work/image/var/lib/docket" -prune -o -uid 65532 -print)" ""
  same "$(find "$work/image" -xdev -perm /6000)" ""
  DOCKET_ADDR=127.0.0.1:0 DOCKET_UPSTREAM_URL=https://platform.test DOCKET_API_KEY=mint_distribution DOCKET_PROJECTS=docs=Docs \
    serves in_image /usr/bin/docket serve
  [[ -s $work/image/var/lib/docket/docket.db ]]
  same "$(find "$work/image/var/lib/docket" ! -uid 65532)" ""
}

# With a platform whose certificate is from an authority that only this image trusts.
the_image_trusts_its_authorities_and_resolves_names() {
  (($(grep -c 'BEGIN CERTIFICATE' "$work/image/etc/ssl/certs/ca-certificates.crt") > 100))
  local emulator platform check root=$work/caddy/caddy/pki/authorities/local/root.crt
  emulator=$(listening "$work/tarball/docket" emulator --addr 127.0.0.1:0 --key mint_distribution)
  platform=$((20000 + RANDOM % 12000))
  mkdir "$work/caddy"
  printf '{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\nhttps://platform.test:%d {\n\tbind 127.0.0.1\n\ttls internal\n\treverse_proxy %s\n}\n' \
    "$platform" "$emulator" >"$work/caddy/Caddyfile"
  HOME=$work/caddy XDG_DATA_HOME=$work/caddy XDG_CONFIG_HOME=$work/caddy \
    caddy run --adapter caddyfile --config "$work/caddy/Caddyfile" >"$work/caddy/log" 2>&1 &
  until [[ -s $root ]] && curl --silent --output /dev/null --cacert "$root" --resolve "platform.test:$platform:127.0.0.1" "https://platform.test:$platform/"; do
    kill -0 $! || { cat "$work/caddy/log"; return 1; }
    sleep 0.1
  done
  read_only_image
  # As a container engine does.
  echo '127.0.0.1 localhost platform.test' >"$work/hosts"
  mount --bind "$work/hosts" "$work/image/etc/hosts"
  check=(env DOCKET_UPSTREAM_URL="https://platform.test:$platform" DOCKET_API_KEY=mint_distribution DOCKET_PROJECTS=docs=Docs)
  refuses 1 certificate "${check[@]}" "$0" in-image "$work" /usr/bin/docket check
  cat "$work/image/etc/ssl/certs/ca-certificates.crt" "$root" >"$work/authorities"
  mount --bind "$work/authorities" "$work/image/etc/ssl/certs/ca-certificates.crt"
  "${check[@]}" "$0" in-image "$work" /usr/bin/docket check
}

# ---

in_debian() { chroot "$work/debian" "$@"; }

# documented HEADING: runs the commands under that heading of install.md, in a folder with the files that they use. The key is pasted, the editor
# changes the required settings, and the platform is the emulator.
documented() {
  local emulator
  emulator=$(listening "$work/tarball/docket" emulator --addr 127.0.0.1:0 --key mint_distribution)
  rm -rf "$work/debian/root/dist"
  cp -r dist "$work/debian/root/dist"
  install -m 755 /dev/stdin "$work/debian/usr/bin/editor" <<<"#!/bin/sh
sed -i 's|^# upstream_url = .*|upstream_url = \"http://$emulator\"|; s|^# projects = .*|projects = \"docs=Docs\"|' \"\$1\""
  commands_of install "$1"
  echo mint_distribution | in_debian sh -ec 'cd /root/dist; exec sh -e /root/commands'
}

# commands_of DOCUMENT HEADING: writes /root/commands of the old Debian.
commands_of() {
  awk -v heading="## $2" '/^## / { inside = $0 == heading } inside && /^    / { print substr($0, 5) }' "docs/operate/$1.md" \
    >"$work/debian/root/commands"
  [[ -s $work/debian/root/commands ]]
}

# As the user, in the folder and with the environment of Containerfile.
in_image() {
  local settings
  read -r -a settings < <(sed -n 's/^ENV //p' Containerfile)
  local folder
  folder=$(sed -n 's/^WORKDIR //p' Containerfile)
  env "${settings[@]}" ${DOCKET_ADDR:+DOCKET_ADDR="$DOCKET_ADDR"} \
    unshare --root="$work/image" --wd="$folder" --setgid=65532 --setuid=65532 "$@"
}

# The image, in which only the volume is writable.
read_only_image() {
  if mountpoint --quiet "$work/image"; then return; fi
  mount --bind "$work/image" "$work/image"
  mount --options remount,bind,ro "$work/image"
  mount --types tmpfs --options uid=65532,gid=65532,mode=700 docket "$work/image/var/lib/docket"
}

# Stubs of the programs that maintainer scripts call, where no systemd runs: they record their arguments.
fake_service_manager() {
  mkdir -p "$work/debian/run/systemd/system"
  install -m 755 /dev/stdin "$work/debian/usr/bin/systemctl" <<'SH'
#!/bin/sh
echo "systemctl $*" >>/var/log/service-manager
# The folder of a service with DynamicUser.
if [ "$1 $2" = "enable --now" ]; then
    install -d -m 700 /var/lib/private/docket
    ln -sfn private/docket /var/lib/docket
fi
SH
  : >"$work/debian/var/log/service-manager"
  cp dist/docket_*_amd64.deb "$work/debian/tmp/docket.deb"
}

# newer VERSION LINE: the package with a higher version, and LINE at the end of its configuration.
newer() {
  rm -rf "$work/newer"
  dpkg-deb --raw-extract dist/docket_*_amd64.deb "$work/newer"
  sed -i "s/^Version: .*/Version: $1/" "$work/newer/DEBIAN/control"
  if [[ -n $2 ]]; then echo "$2" >>"$work/newer/etc/docket/Leptos.toml"; fi
  dpkg-deb --root-owner-group -Znone --build "$work/newer" "$work/debian/tmp/newer.deb"
}

# listening COMMAND…: starts it, and prints the HOST:PORT from its output. It ends with this process.
listening() {
  local log
  log=$(mktemp -p "$work")
  "$@" >"$log" 2>&1 &
  local server=$! address=
  until [[ -n $address ]]; do
    kill -0 "$server" 2>/dev/null || { cat "$log" >&2; return 1; }
    sleep 0.05
    address=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -oE '127\.0\.0\.1:[0-9]{4,5}' | head -n 1 || true)
  done
  printf '%s\n' "$address"
}

# serves COMMAND…: it listens, is healthy and has its front end.
serves() {
  local address
  address=$(listening "$@")
  same "$(curl --silent --fail --retry 50 --retry-connrefused --retry-delay 1 "http://$address/healthz")" "ok"
  contains "$(curl --silent --fail "http://$address/login")" "Sign in"
}

# refuses CODE WORDS COMMAND…: it fails with CODE, and prints WORDS.
refuses() {
  local wanted=$1 words=$2 code=0 output
  shift 2
  output=$("$@" 2>&1) || code=$?
  same "$code" "$wanted"
  contains "$output" "$words"
}

same() { [[ $1 == "$2" ]] || { diff <(printf '%s\n' "$1") <(printf '%s\n' "$2") || true; fail "they differ"; }; }
# never PATTERN: no line of standard input has it.
never() { if grep -E "$1"; then fail "'$1' is there"; fi; }
contains() { [[ $1 == *"$2"* ]] || fail "'$2' is not in: $1"; }

if [[ ${1:-} == in-image ]]; then
  work=$2
  shift 2
  in_image "$@"
else
  main "$@"
fi
