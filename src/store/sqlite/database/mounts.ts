import { readFileSync } from 'node:fs';

/** Where a file system is mounted, and its type as Linux names it: ext4, overlay, nfs4, 9p, virtiofs, fuse.sshfs. */
interface Mount {
  readonly point: string;
  readonly type: string;
}

/** Returns the mount that a file is on; undefined on other systems than Linux. @param path absolute, without symbolic links */
export function mountOf(path: string): Mount | undefined {
  let found: Mount | undefined;
  for (const mount of mounts()) {
    const isAbove =
      mount.point === '/' || path === mount.point || path.startsWith(`${mount.point}/`);
    // Of two mounts at one point the later one is in use.
    if (isAbove && mount.point.length >= (found?.point.length ?? 0)) found = mount;
  }
  return found;
}

/** Reads /proc/self/mountinfo, see proc_pid_mountinfo(5). */
function mounts(): Mount[] {
  let text: string;
  try {
    text = readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => {
    const [before, after] = line.split(' - ');
    const [, , , , point] = before!.split(' ');
    if (point === undefined || after === undefined) return [];
    return [{ point: unescaped(point), type: after.split(' ')[0]! }];
  });
}

/** Decodes blanks, tabs, line ends and backslashes, which the kernel writes as three octal digits. */
function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits) =>
    String.fromCharCode(Number(`0o${digits}`)),
  );
}
