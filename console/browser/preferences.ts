/** The columns that can be left out. */
export const COLUMNS = ['pet', 'reference', 'quantity', 'ships', 'placed', 'changed'] as const;
export type Column = (typeof COLUMNS)[number];

/** A view that the user has named. */
export interface NamedView {
  readonly name: string;
  /** The query of its address. */
  readonly search: string;
}

/** Views that every browser has. */
export const STANDARD_VIEWS: readonly NamedView[] = [
  { name: 'Overdue', search: '?status=pending&ships=overdue&sort=shipDate' },
  { name: 'Today’s shipments', search: '?status=pending&ships=today&sort=shipDate' },
];

/** Views that are kept. */
export const MAX_VIEWS = 30;

/** The user's preferences, kept in this browser. */
export interface Preferences {
  /** With different names. */
  readonly views: readonly NamedView[];
  readonly hidden: readonly Column[];
  readonly isCompact: boolean;
  /** Whether letters are shortcuts (WCAG 2.1.4). */
  readonly hasShortcuts: boolean;
  /** Whether scans are heard. */
  readonly hasSound: boolean;
}

const STORED = 'store-orders-view';

export function storedPreferences(): Preferences {
  let stored: Partial<Record<keyof Preferences, unknown>> = {};
  try {
    stored = JSON.parse(localStorage.getItem(STORED) ?? '{}') ?? {};
  } catch {
    // The stored text comes from another program.
  }
  const views: readonly Partial<NamedView>[] = Array.isArray(stored.views) ? stored.views : [];
  const hidden = Array.isArray(stored.hidden) ? stored.hidden : [];
  return {
    views: views.filter(isNamedView).slice(0, MAX_VIEWS),
    hidden: COLUMNS.filter((each) => hidden.includes(each)),
    isCompact: stored.isCompact !== false,
    hasShortcuts: stored.hasShortcuts !== false,
    hasSound: stored.hasSound !== false,
  };
}

function isNamedView(each: Partial<NamedView> | null): each is NamedView {
  // Anything else would be a link to elsewhere.
  return typeof each?.name === 'string' && /^(?:\?|$)/.test(String(each.search));
}

export function storePreferences(preferences: Preferences): void {
  localStorage.setItem(STORED, JSON.stringify(preferences));
}
