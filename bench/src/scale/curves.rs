//! A plot of curves over a logarithmic axis, panels side by side.

use crate::plot::{STYLE, escape};
use std::fmt::Write;

/// Panels that share what is across.
#[derive(Clone, Debug)]
pub(super) struct Curves {
    pub(super) title: String,
    pub(super) subtitle: String,
    /// What grows from left to right.
    pub(super) across: String,
    pub(super) panels: Vec<Panel>,
}

/// Lines that share a scale.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    pub(super) axis: String,
    pub(super) lines: Vec<Line>,
}

/// One line through its points.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 380.0;
const TOP: f64 = 110.0;
const FOOT: f64 = 310.0;
const SIDE: f64 = 56.0;
const CLASSES: [&str; 2] = ["first", "second"];

/// The powers of ten that a set of values lies between.
#[derive(Clone, Copy, Debug)]
struct Decades {
    low: i32,
    high: i32,
}

impl Decades {
    #[allow(clippy::cast_possible_truncation, reason = "logarithms are small")]
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let logarithms: Vec<f64> = values.filter(|value| *value > 0.0).map(f64::log10).collect();
        let low = logarithms.iter().copied().fold(f64::INFINITY, f64::min);
        let high = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if logarithms.is_empty() {
            return Self { low: 0, high: 1 };
        }
        Self { low: low.floor() as i32, high: (high.ceil() as i32).max(low.floor() as i32 + 1) }
    }

    /// Where a value lies: nought at the lowest power, one at the highest.
    fn share(self, value: f64) -> f64 {
        let logarithm = value.max(f64::MIN_POSITIVE).log10();
        ((logarithm - f64::from(self.low)) / f64::from(self.high - self.low)).clamp(0.0, 1.0)
    }

    fn ticks(self) -> impl Iterator<Item = f64> {
        (self.low..=self.high).map(|power| 10_f64.powi(power))
    }
}

impl Curves {
    /// The plot as SVG.
    pub(super) fn svg(&self) -> String {
        let mut body = String::new();
        let count = u32::try_from(self.panels.len().max(1)).unwrap_or(1);
        let width = (WIDTH - 24.0) / f64::from(count);
        let across = Decades::of(self.panels.iter().flat_map(Panel::points).map(|point| point.0));
        let mut left = SIDE;
        for panel in &self.panels {
            panel.draw(&mut body, left, width - SIDE - 8.0, across, &self.across);
            left += width;
        }
        let mut x = SIDE;
        for (line, class) in self.panels.iter().take(1).flat_map(|panel| &panel.lines).zip(CLASSES) {
            let _ = writeln!(body, r#"  <path class="curve {class}" d="M{x} 84h22"/>"#);
            let name = escape(&line.name);
            let _ = writeln!(body, r#"  <text class="quiet" x="{}" y="88">{name}</text>"#, x + 28.0);
            x += 110.0;
        }
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">
  <title>{title}</title>
  <style>{STYLE}
    .curve {{ fill: none; stroke-width: 2 }}
    .first {{ stroke: #2f9e8f }}
    .second {{ stroke: #d9822b }}
  </style>
  <rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="8"/>
  <text class="title" x="24" y="36">{title}</text>
  <text class="quiet" x="24" y="58">{subtitle}</text>
{body}</svg>
"#,
            title = escape(&self.title),
            subtitle = escape(&self.subtitle),
        )
    }
}

impl Panel {
    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.lines.iter().flat_map(|line| line.points.iter().copied())
    }

    fn draw(&self, svg: &mut String, left: f64, width: f64, across: Decades, name: &str) {
        let up = Decades::of(self.points().map(|point| point.1));
        for tick in up.ticks() {
            let y = FOOT - (FOOT - TOP) * up.share(tick);
            let _ = writeln!(svg, r#"  <path class="grid" d="M{left:.1} {y:.1}h{width:.1}"/>"#);
            let _ = writeln!(
                svg,
                r#"  <text class="quiet" x="{:.1}" y="{:.1}" text-anchor="end">{tick}</text>"#,
                left - 6.0,
                y + 4.0
            );
        }
        for tick in across.ticks() {
            let x = left + width * across.share(tick);
            let _ = writeln!(svg, r#"  <path class="grid" d="M{x:.1} {TOP}V{FOOT}"/>"#);
            let _ = writeln!(
                svg,
                r#"  <text class="quiet" x="{x:.1}" y="{}" text-anchor="middle">{tick}</text>"#,
                FOOT + 18.0
            );
        }
        for (line, class) in self.lines.iter().zip(CLASSES) {
            let mut path = String::new();
            for (x, y) in &line.points {
                let (x, y) = (left + width * across.share(*x), FOOT - (FOOT - TOP) * up.share(*y));
                let _ = write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { 'M' } else { 'L' });
            }
            let _ = writeln!(svg, r#"  <path class="curve {class}" d="{path}"/>"#);
        }
        let (axis, name) = (escape(&self.axis), escape(name));
        let _ = writeln!(svg, r#"  <text class="quiet" x="{left:.1}" y="{}">{axis}</text>"#, FOOT + 50.0);
        let _ = writeln!(
            svg,
            r#"  <text class="quiet" x="{:.1}" y="{}" text-anchor="end">{name}</text>"#,
            left + width,
            FOOT + 34.0
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_ten_enclose_what_is_shown() {
        let decades = Decades::of([3.0, 70.0, 0.0].into_iter());
        assert_eq!((decades.low, decades.high), (0, 2));
        let is_at = |value: f64, share: f64| (decades.share(value) - share).abs() < 1e-9;
        assert!(is_at(1.0, 0.0) && is_at(10.0, 0.5) && is_at(100.0, 1.0));
        let nothing = Decades::of([].into_iter());
        assert_eq!((nothing.low, nothing.high), (0, 1));
    }

    #[test]
    fn there_is_a_curve_for_each_line_and_the_picture_is_well_formed() {
        let line = Line { name: "a < b".into(), points: vec![(1.0, 2.0), (10.0, 20.0)] };
        let panel = Panel { axis: "calls".into(), lines: vec![line.clone(), line] };
        let panels = vec![panel.clone(), panel];
        let curves = Curves { title: "t".into(), subtitle: "s".into(), across: "nodes".into(), panels };
        let svg = curves.svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let is_curve = |node: &roxmltree::Node<'_, '_>| {
            node.attribute("class").is_some_and(|class| class.starts_with("curve"))
        };
        // Four lines, and two in the legend.
        assert_eq!(document.descendants().filter(is_curve).count(), 6);
    }
}
