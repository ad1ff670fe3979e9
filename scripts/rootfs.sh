#!/usr/bin/env bash
# rootfs.sh STAGE FILE.tar.gz: writes the root file system of the container image. It has Docket from the folder STAGE and the few files of
# Debian that it needs: the C library with its loader, and the certificate authorities. It has no shell, no package manager, and only the user `docket`.
# The packages are those of this machine's Debian; their versions are in usr/share/doc/packages.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

# The user of images without root, as in distroless ones.
ID=65532
LIBRARIES=lib/x86_64-linux-gnu

main() {
  local stage=$1 file=$2
  command -v apt-get >/dev/null || fail "the container's files come from Debian packages: this needs apt-get."
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/debs" "$work/from" "$work/root"
  unpack libc6 ca-certificates
  umask 022
  system "$work/from" "$work/root"
  docket "$stage" "$work/root"
  tar --create --sort=name --mtime="@${SOURCE_DATE_EPOCH:-0}" --numeric-owner --format=gnu --owner=0 --group=0 \
    --exclude=./var/lib/docket --directory="$work/root" . >"$work/root.tar"
  # The volume: a container engine copies its owner and mode.
  tar --append --mtime="@${SOURCE_DATE_EPOCH:-0}" --numeric-owner --format=gnu --owner=$ID --group=$ID \
    --directory="$work/root" --file="$work/root.tar" ./var/lib/docket
  gzip -9n <"$work/root.tar" >"$file"
}

unpack() {
  (cd "$work/debs" && { apt-get download "$@" || { apt-get update && apt-get download "$@"; }; } >"$work/log" 2>&1) ||
    { cat "$work/log" >&2; fail "Debian's packages $* could not be fetched."; }
  local deb
  for deb in "$work"/debs/*.deb; do dpkg-deb --extract "$deb" "$work/from"; done
}

system() {
  local from=$1 root=$2
  mkdir -p "$root"/{etc/ssl/certs,usr/share/doc,"$LIBRARIES",lib64,proc,sys,dev,run,tmp}
  chmod 1777 "$root/tmp"
  # Besides the linked libraries: those that glibc loads to resolve names.
  cp -a "$from/$LIBRARIES"/{ld-linux-x86-64,libc,libm,libpthread,libdl,librt,libresolv,libnss_dns,libnss_files}.so.* "$root/$LIBRARIES/"
  ln -s "../$LIBRARIES/ld-linux-x86-64.so.2" "$root/lib64/ld-linux-x86-64.so.2"
  # As update-ca-certificates does at the installation of the package.
  find "$from/usr/share/ca-certificates" -name '*.crt' -print0 | LC_ALL=C sort -z | xargs -0 cat >"$root/etc/ssl/certs/ca-certificates.crt"
  local deb package
  for package in libc6 ca-certificates; do install -D -m 644 "$from/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"; done
  for deb in "$work"/debs/*.deb; do dpkg-deb --show "$deb"; done >"$root/usr/share/doc/packages"
  printf 'root:x:0:0:root:/:/sbin/nologin\ndocket:x:%d:%d:Docket:/var/lib/docket:/sbin/nologin\n' $ID $ID >"$root/etc/passwd"
  printf 'root:x:0:\ndocket:x:%d:\n' $ID >"$root/etc/group"
  printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
  # A container engine mounts its own files over these.
  touch "$root"/etc/{hosts,hostname,resolv.conf}
}

docket() {
  local stage=$1 root=$2
  mkdir -p "$root"/{usr/bin,usr/share/doc/docket,etc/docket,var/lib}
  install -d -m 700 "$root/var/lib/docket"
  install -m 755 "$stage/docket" "$root/usr/bin/docket"
  install -m 644 "$stage"/{CHANGELOG.md,LICENSE,LICENSE-MIT,LICENSE-APACHE,THIRD-PARTY-LICENSES} "$root/usr/share/doc/docket/"
}

main "$@"
