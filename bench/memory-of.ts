import { readFileSync } from 'node:fs';

/** Resident bytes of a process and its descendants; shared pages count once per process. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const own = Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) * 1024;
  if (children === '') return own;
  return children.split(' ').reduce((sum, child) => sum + residentBytes(Number(child)), own);
}
