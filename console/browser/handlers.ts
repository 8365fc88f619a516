export type Handler = (event: Event) => void;

/** A handler that does something instead of what the browser would do. */
export const instead =
  (handler: Handler): Handler =>
  (event) => {
    event.preventDefault();
    handler(event);
  };

/** Returns the field of the form that an event comes from. */
export function fieldOf(event: Event, name: string): HTMLInputElement {
  const form = event.currentTarget as HTMLFormElement;
  return form.elements.namedItem(name) as HTMLInputElement;
}

/** Closes the popover that an event comes from, and the menu of filters that it was opened from. */
export function closePopover({ currentTarget }: Event): void {
  document.getElementById('any-filter')?.hidePopover();
  (currentTarget as Element).closest<HTMLElement>('[popover]')?.hidePopover();
}
