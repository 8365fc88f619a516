/** The columns that can be left out. */
export const COLUMNS = ['pet', 'reference', 'quantity', 'ships', 'placed', 'changed'] as const;
export type Column = (typeof COLUMNS)[number];

/** The user's preferences, kept in this browser. */
export interface Preferences {
  readonly hidden: readonly Column[];
  readonly isCompact: boolean;
  /** Whether letters are shortcuts (WCAG 2.1.4). */
  readonly hasShortcuts: boolean;
}

const STORED = 'store-orders-view';

export function storedPreferences(): Preferences {
  let stored: Partial<Record<keyof Preferences, unknown>> = {};
  try {
    stored = JSON.parse(localStorage.getItem(STORED) ?? '{}') ?? {};
  } catch {
    // The stored text comes from another program.
  }
  const hidden = Array.isArray(stored.hidden) ? stored.hidden : [];
  return {
    hidden: COLUMNS.filter((each) => hidden.includes(each)),
    isCompact: stored.isCompact !== false,
    hasShortcuts: stored.hasShortcuts !== false,
  };
}

export function storePreferences(preferences: Preferences): void {
  localStorage.setItem(STORED, JSON.stringify(preferences));
}
