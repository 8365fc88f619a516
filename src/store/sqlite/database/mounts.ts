import { readFileSync } from 'node:fs';

/** Returns the mount that a file is on; undefined on other systems than Linux. @param path absolute, without symbolic links */
export function mountOf(path: string) {
  const above = mounts().filter(
    ({ point }) => point === '/' || path === point || path.startsWith(`${point}/`),
  );
  // Of two mounts at one point the later one is in use.
  return above.sort((one, other) => one.point.length - other.point.length).at(-1);
}

/** Where file systems are mounted, and their types as Linux names them: ext4, overlay, nfs4, 9p, virtiofs, fuse.sshfs. Reads /proc/self/mountinfo, see proc_pid_mountinfo(5). */
function mounts() {
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
