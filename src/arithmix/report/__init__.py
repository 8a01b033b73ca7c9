"""The report: records as one page that opens from disk. No torch.

`data` gathers rows and verdicts, `panels` makes pictures and tables of them, `page` writes the
HTML. A panel is made of `parts`; `draw` has what the pictures share.
"""
