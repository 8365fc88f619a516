import { correction, generate } from 'lean-qr/nano';
import { svg } from 'lit-html';

/** The modules of quiet around a code: ISO/IEC 18004. */
const QUIET = 4;

/** A QR code of a text. It is dark on white in both colour schemes: not every camera reads the inverse. */
export function qrCode(text: string, label: string) {
  const code = generate(text, { minCorrectionLevel: correction.M });
  const lines = Array.from({ length: code.size }, (_, index) => index);
  const modules = lines.flatMap((y) =>
    lines.flatMap((x) => (code.get(x, y) ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  const size = code.size + 2 * QUIET;
  return svg`<svg class="qr" viewBox="${-QUIET} ${-QUIET} ${size} ${size}" role="img" aria-label=${label} shape-rendering="crispEdges">
    <rect x=${-QUIET} y=${-QUIET} width=${size} height=${size} fill="#fff"></rect><path d=${modules.join('')} fill="#000"></path></svg>`;
}
