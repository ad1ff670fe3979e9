#!/usr/bin/env bash
# Writes the files of a release to dist/: a tar file and a Debian package, the root file system of a container, tar files of the client alone, the bill
# of materials (SBOM) and checksums. Two builds of one commit are the same bytes, except for the container's Debian files, which are the current ones.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$ROOT"

DIST=$ROOT/dist
# The contents of tar file and package; Cargo.toml has the list of the package's files.
STAGE=$ROOT/target/dist/docket
VERSION=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
NAME=docket-$VERSION-x86_64-linux

main() {
  "$ROOT/scripts/build.sh" portable
  "$ROOT/scripts/build.sh" client
  SOURCE_DATE_EPOCH=$(commit_time)
  export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
  umask 022
  rm -rf "$DIST" "${STAGE:?}"
  mkdir -p "$DIST" "$STAGE"
  stage
  tar_file docket "$NAME"
  client_files
  debian_package
  bill_of_materials "$DIST/docket-$VERSION.cdx.json"
  "$ROOT/scripts/rootfs.sh" "$STAGE" "$DIST/docket-$VERSION-rootfs.tar.gz"
  (cd "$DIST" && sha256sum -- * >"$ROOT/target/dist/SHA256SUMS" && mv "$ROOT/target/dist/SHA256SUMS" .)
  (cd "$DIST" && ls -l)
}

# The time of the commit, so that it is the same in every build.
commit_time() {
  printf '%s\n' "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
}

stage() {
  install -m 755 target/release/docket "$STAGE/docket"
  install -m 644 packaging/docket.service packaging/docket.socket CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE "$STAGE/"
  configuration >"$STAGE/Leptos.toml"
  node scripts/licenses.mjs "$ZIG_ROOT/ziglang" >"$STAGE/THIRD-PARTY-LICENSES"
  "$STAGE/docket" generate "$STAGE"
}

# The commented file, with the folders of unit and package.
configuration() {
  local text
  text=$(<Leptos.toml)
  text=$(with_setting "$text" database_url sqlite:///var/lib/docket/docket.db)
  text=$(with_setting "$text" api_key_file /etc/docket/api-key)
  printf '%s\n' "$text"
}

# with_setting TEXT KEY VALUE: TEXT with the commented line of KEY set to VALUE.
with_setting() {
  [[ $1 == *$'\n'"# $2 = "* ]] || fail "Leptos.toml has no line '# $2 = …'"
  sed "s|^# $2 = .*|$2 = \"$3\"|" <<<"$1"
}

# tar_file FOLDER NAME: the folder of target/dist as dist/NAME.tar.gz.
tar_file() {
  tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu \
    --transform="s|^$1|$2|" --directory="$STAGE/.." "$1" | gzip -9n >"$DIST/$2.tar.gz"
}

# Everything of which the client consists is in the server, too.
client_files() {
  local binary architecture stage=$STAGE-client
  for binary in target/release/docket-client-*; do
    architecture=${binary##*-}
    rm -rf "$stage"
    mkdir "$stage"
    install -m 755 "$binary" "$stage/docket-client"
    install -m 644 LICENSE LICENSE-MIT LICENSE-APACHE "$STAGE/THIRD-PARTY-LICENSES" "$stage/"
    tar_file docket-client "docket-client-$VERSION-linux-$architecture"
  done
}

# For xz, cargo-deb runs the program, whose output depends on the number of threads.
debian_package() {
  find "$STAGE" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  XZ_DEFAULTS=--threads=1 cargo-deb deb --locked --no-build --no-strip --compress-system --output "$DIST/docket_${VERSION}-1_amd64.deb"
}

# The crates of the server, which include those of the front end; scripts/licenses.mjs has the few other components.
bill_of_materials() {
  # It writes to the folder of Cargo.toml.
  cargo-cyclonedx cyclonedx --quiet --format json --spec-version 1.5 --no-default-features --features ssr --no-build-deps \
    --target x86_64-unknown-linux-gnu --override-filename docket.cdx
  rm -f crates/*/docket.cdx.json facade/docket.cdx.json
  node scripts/sbom.mjs docket.cdx.json >"$1"
  rm docket.cdx.json
}

main
