/** The mark of the product, a box in a square of 24 by 24 with round corners. */
export const MARK = 'm12 5.5 6 3.2v6.6l-6 3.2-6-3.2V8.7Zm-5.7 3.4L12 12l5.7-3.1M12 12v6.3';
