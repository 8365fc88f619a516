/** Returns a record of a later release, as docs/stability.md permits it: with a further field in each object, and other values of open texts. */
export function later(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(later);
  if (typeof node !== 'object' || node === null) return node;
  const values: Record<string, string> = {
    ...{ status: 'returned', type: 'returned', reason: 'too_small' },
    ...{ state: 'resting', pauseReason: 'weekend', environment: 'sandbox' },
  };
  const entries = Object.entries(node).map(([name, value]) => {
    if (name === 'scopes') return [name, [...value, 'orders:return']];
    const isOpen = typeof value === 'string' && name in values;
    return [name, isOpen ? values[name] : later(value)];
  });
  return { addedField: { value: 1 }, ...Object.fromEntries(entries) };
}
