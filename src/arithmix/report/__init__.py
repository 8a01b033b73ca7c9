"""The report: records as one page that opens from disk. No torch.

`data` gathers rows and verdicts, `cells` has what is said of them, `panels` makes pictures and
tables, `page` writes the HTML. A panel is made of `parts`; `draw` has what the pictures share.
"""
