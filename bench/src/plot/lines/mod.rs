//! Lines in small frames under one title: over time against a level that was promised, or over what grows tenfold.

mod axis;
mod frame;

pub(crate) use frame::{Frame, Growth};

use super::{STYLE, escape};
use std::fmt::Write;

/// Frames under one title.
#[derive(Clone, Debug)]
pub(crate) struct LinePlot {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// What the lines of each frame are, the first ones first.
    pub(crate) lines: Vec<String>,
    /// What a level means that is marked by dashes, where there is one.
    pub(crate) promise: Option<&'static str>,
    /// What a mark means, where there are marks.
    pub(crate) mark: Option<&'static str>,
    pub(crate) columns: u32,
    pub(crate) frames: Vec<Frame>,
}

const WIDTH: f64 = 860.0;
const TOP: f64 = 104.0;
const MARGIN: f64 = 24.0;
/// Left of a frame, for its numbers.
const SIDE: f64 = 44.0;
/// Above a frame, for its name, and below it, for its numbers.
const HEAD: f64 = 22.0;
const FOOT: f64 = 26.0;
/// How far apart the entries of the legend stand.
const ENTRY: f64 = 220.0;

/// The looks of the lines of a frame, in their order.
const CLASSES: [&str; 3] = ["first", "second", "third"];

impl LinePlot {
    /// The plot as SVG.
    pub(crate) fn svg(&self) -> String {
        let columns = self.columns.max(1);
        let cell = (WIDTH - 2.0 * MARGIN) / f64::from(columns);
        let tall = match self.frames.first().map(|frame| frame.growth) {
            Some(Growth::Tenfold(_)) => 150.0,
            _ if columns == 1 => 260.0,
            _ => 84.0,
        };
        let row = HEAD + tall + FOOT;
        let mut body = self.legend();
        for (number, frame) in (0_u32..).zip(&self.frames) {
            let (across, down) = (f64::from(number % columns), f64::from(number / columns));
            let (left, top) = (MARGIN + SIDE + across * cell, TOP + down * row + HEAD);
            frame.draw(&mut body, left, top, cell - SIDE - 14.0, tall);
        }
        let rows = f64::from(u32::try_from(self.frames.len()).unwrap_or(u32::MAX).div_ceil(columns));
        let height = TOP + rows * row + 12.0;
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">
  <title>{title}</title>
  <style>{STYLE}
    .curve {{ fill: none; stroke-width: 1.8 }}
    .first {{ stroke: #2f9e8f }}
    .second {{ stroke: #d9822b }}
    .third {{ stroke: #5b7bb0 }}
    .promise {{ stroke: #c22f5d; stroke-width: 1.5; stroke-dasharray: 5 3 }}
    .mark {{ stroke: #d9822b; stroke-width: 1.2; stroke-dasharray: 2 2 }}
    .small {{ font-size: 10.5px }}
  </style>
  <rect class="paper" width="{WIDTH}" height="{height}" rx="8"/>
  <text class="title" x="24" y="36">{title}</text>
  <text class="quiet" x="24" y="58">{subtitle}</text>
{body}</svg>
"#,
            title = escape(&self.title),
            subtitle = escape(&self.subtitle),
        )
    }

    fn legend(&self) -> String {
        let lines = self
            .lines
            .iter()
            .zip(CLASSES)
            .map(|(name, class)| (format!("curve {class}"), "h22", name.as_str()));
        let promise = self.promise.map(|name| (String::from("promise"), "h22", name));
        let mark = self.mark.map(|name| (String::from("mark"), "v12", name));
        let mut svg = String::new();
        let step =
            ENTRY.min((WIDTH - 2.0 * MARGIN) / f64::from(u32::try_from(self.lines.len() + 2).unwrap_or(1)));
        let mut x = MARGIN;
        for (class, path, name) in lines.chain(promise).chain(mark) {
            let y = if path.starts_with('h') { 82.0 } else { 76.0 };
            let _ = writeln!(svg, r#"  <path class="{class}" d="M{x:.1} {y}{path}"/>"#);
            let _ =
                writeln!(svg, r#"  <text class="quiet" x="{:.1}" y="86">{}</text>"#, x + 28.0, escape(name));
            x += step;
        }
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(growth: Growth) -> Frame {
        let points = vec![(0.0, 0.0), (1.0, 220.0), (2.0, 190.0)];
        let marks = vec![(1.0, "a < b".into())];
        Frame {
            name: "a & b".into(),
            growth,
            promise: Some(200.0),
            lines: vec![points.clone(), points],
            marks,
        }
    }

    fn plot(columns: u32, count: usize, growth: Growth) -> LinePlot {
        LinePlot {
            title: "t".into(),
            subtitle: "s".into(),
            lines: vec!["a < b".into(), "passed".into()],
            promise: Some("promised"),
            mark: Some("something is done"),
            columns,
            frames: vec![frame(growth); count],
        }
    }

    #[test]
    fn there_is_a_curve_for_each_line_and_the_picture_is_well_formed() {
        for growth in [Growth::Seconds, Growth::Tenfold("nodes")] {
            for (columns, count) in [(1, 1), (3, 7), (3, 0)] {
                let svg = plot(columns, count, growth).svg();
                let document = roxmltree::Document::parse(&svg).unwrap();
                let is_curve = |node: &roxmltree::Node<'_, '_>| {
                    node.attribute("class").is_some_and(|class| class.starts_with("curve"))
                };
                // One more of each in the legend.
                assert_eq!(document.descendants().filter(is_curve).count(), 2 * (count + 1));
            }
        }
    }
}
