//! Curves as pictures, inside a page.

use std::fmt::Write;

/// A curve.
pub(super) struct Curve<'a> {
    pub(super) name: &'a str,
    pub(super) colour: &'static str,
    /// One value for each step.
    pub(super) values: Vec<f64>,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 24.0;
const TOP: f64 = 22.0;

/// Curves over time, all on one scale. `step` is how many seconds lie between two values; `marks` are times with a name.
pub(super) fn plot(curves: &[Curve<'_>], step: f64, marks: &[(f64, String)]) -> String {
    let most =
        curves.iter().flat_map(|curve| &curve.values).fold(1.0_f64, |most, value| most.max(*value)) * 1.05;
    let steps = curves.iter().map(|curve| curve.values.len()).max().unwrap_or(1).max(2);
    let end = step * as_float(steps - 1);
    let x = |time: f64| LEFT + (WIDTH - LEFT - 10.0) * (time / end).min(1.0);
    let y = |value: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - value / most);
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">");
    for part in 0..=4 {
        let value = most * f64::from(part) / 4.0;
        let (at, label) = (y(value), short(value));
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 6.0,
            at + 4.0,
        );
    }
    for part in 0..=6 {
        let time = end * f64::from(part) / 6.0;
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{time:.0}s</text>",
            x(time),
            HEIGHT - 6.0
        );
    }
    for (time, name) in marks {
        let (at, name) = (x(*time), escaped(name));
        let _ = write!(
            svg,
            "<line class=\"mark\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{:.1}\"><title>{name}</title></line>",
            HEIGHT - BOTTOM,
        );
    }
    for (i, curve) in curves.iter().enumerate() {
        let points = curve
            .values
            .iter()
            .enumerate()
            .map(|(at, value)| format!("{:.1},{:.1}", x(as_float(at) * step), y(*value)));
        let points = points.collect::<Vec<_>>().join(" ");
        let (colour, name) = (curve.colour, escaped(curve.name));
        let legend = LEFT + 10.0 + 150.0 * as_float(i);
        let _ = write!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\
             <rect x=\"{legend:.1}\" y=\"6\" width=\"10\" height=\"10\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"15\">{name}</text>",
            legend + 15.0,
        );
    }
    svg.push_str("</svg>");
    svg
}

/// A text that means itself in a page.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn short(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.1}M", value / 1e6),
        value if value >= 1e4 => format!("{:.0}k", value / 1e3),
        value if value >= 1e3 => format!("{:.1}k", value / 1e3),
        value => format!("{value:.0}"),
    }
}

#[allow(clippy::cast_precision_loss, reason = "small")]
const fn as_float(count: usize) -> f64 {
    count as f64
}
