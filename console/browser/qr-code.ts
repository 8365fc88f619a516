import { correction, generate } from 'lean-qr/nano';

/** The modules of quiet around a code: ISO/IEC 18004. */
const QUIET = 4;
const SVG = 'http://www.w3.org/2000/svg';

/** `<qr-code value="…">`: the code of a text. */
class QrCode extends HTMLElement {
  static readonly observedAttributes = ['value'];

  attributeChangedCallback(_name: string, _before: string | null, text: string): void {
    const code = generate(text, { minCorrectionLevel: correction.M });
    const lines = Array.from({ length: code.size }, (_, index) => index);
    const modules = lines.flatMap((y) =>
      lines.flatMap((x) => (code.get(x, y) ? [`M${x} ${y}h1v1h-1z`] : [])),
    );
    const size = code.size + 2 * QUIET;
    const [svg, path] = ['svg', 'path'].map((name) => document.createElementNS(SVG, name));
    svg!.setAttribute('viewBox', `${-QUIET} ${-QUIET} ${size} ${size}`);
    path!.setAttribute('d', modules.join(''));
    svg!.append(path!);
    this.replaceChildren(svg!);
  }
}

customElements.define('qr-code', QrCode);
